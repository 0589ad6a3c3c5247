"""A labelling problem in the IOPDDL form as a mixed integer programme: the formulation of the original Alpa (OSDI'22,
section 4.2).

One binary variable a strategy of a node, one variable in [0, 1] a pair of strategies of an edge, linked by
sum over t of e(s, t) = x(s) and sum over s of e(s, t) = x(t), and for each time step at which the limit can be passed
sum of usages <= limit. As there, a node that must take its neighbour's strategy is no variable of its own. What makes
it easier for whoever solves it: forbidden pairs have no variable, parallel edges are one, edges that cost nothing are
none, time steps that another one implies are no rows."""

import collections
import gzip
import json

import numpy

FORBIDDEN = 10**18
LARGEST_COST = 1e6  # Of the programme: costs are scaled, so that a solver's tolerances mean something.


def read_problem(path):
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as file:
        return json.load(file)["problem"]


def evaluate(problem, choice):
    """(cost, peak usage), in integers; the cost is None where something chosen is forbidden."""
    nodes, edges = problem["nodes"], problem["edges"]
    costs = [own[s] for own, s in zip(nodes["costs"], choice)]
    for (a, b), table in zip(edges["nodes"], edges["costs"]):
        costs.append(table[choice[a] * len(nodes["costs"][b]) + choice[b]])
    change = collections.Counter()
    for (start, end), usages, s in zip(nodes["intervals"], nodes["usages"], choice):
        if start < end:
            change[start] += usages[s]
            change[end] -= usages[s]
    use = peak = 0
    for time in sorted(change):
        use += change[time]
        peak = max(peak, use)
    return (None if max(costs, default=0) >= FORBIDDEN else sum(costs)), peak


class Followers:
    """Nodes that are one, as edges make them that allow each strategy just one partner, and each partner one."""

    def __init__(self, count):
        self.parent = list(range(count))
        self.map = [None] * count  # Strategy of the parent -> own; None: the same.

    def find(self, node):
        """(root, own strategy by the root's)."""
        chain = []
        while self.parent[node] != node:
            chain.append(node)
            node = self.parent[node]
        mapping = None
        for link in reversed(chain):
            mapping = self.map[link] if mapping is None else [self.map[link][s] for s in mapping]
            self.parent[link], self.map[link] = node, mapping
        return node, mapping

    def join(self, a, b, partner):
        """Strategy s of a goes with partner[s] of b. Where they are one already it is an edge like others."""
        root_a, map_a = self.find(a)
        root_b, map_b = self.find(b)
        if root_a == root_b:
            return
        size = len(partner)
        of_b = [partner[s] for s in (map_a or range(size))]  # b's strategy by root_a's
        back = [0] * size  # root_b's by b's
        for s, own in enumerate(map_b or range(size)):
            back[own] = s
        self.parent[root_b], self.map[root_b] = root_a, [back[s] for s in of_b]


def partners(table, rows, cols):
    """The one partner of each row's strategy where the finite entries are a bijection, else None."""
    if rows != cols:
        return None
    finite = table < FORBIDDEN
    if not (finite.sum(axis=0) == 1).all() or not (finite.sum(axis=1) == 1).all():
        return None
    return finite.argmax(axis=1).tolist()


class Mip:
    """Arrays of the programme: minimise cost.x, row_lower <= A x <= row_upper, 0 <= x <= upper, the first `binaries`
    variables binary. Costs are divided by `scale`."""

    def __init__(self, problem):
        self.problem = problem
        nodes = problem["nodes"]
        sizes = [len(costs) for costs in nodes["costs"]]
        self.followers = Followers(len(sizes))
        edges = self.edges(sizes)
        self.roots = [self.followers.find(i) for i in range(len(sizes))]
        self.first = {}  # First variable of a root.
        self.cost, self.upper = [], []
        self.add_node_variables(sizes)
        self.binaries = len(self.cost)
        self.columns, self.values, self.row_lower, self.row_upper = [], [], [], []
        for root, first in self.first.items():
            self.add_row(range(first, first + sizes[root]), None, 1, 1)
        for (a, b), table in self.tables_by_roots(edges).items():
            self.add_edge(self.first[a], self.first[b], table)
        self.add_memory_rows()
        cost = numpy.array(self.cost, dtype=object)
        largest = max((c for c in self.cost), default=1)
        self.scale = max(1.0, largest / LARGEST_COST)
        self.cost = numpy.array([float(c) / self.scale for c in cost])
        self.upper = numpy.array(self.upper, dtype=float)

    def edges(self, sizes):
        """With their tables; joins the followers."""
        result = []
        known = {}  # Tables are repeated many times.
        for (a, b), costs in zip(self.problem["edges"]["nodes"], self.problem["edges"]["costs"]):
            key = (sizes[a], sizes[b], tuple(costs))
            if key not in known:
                table = numpy.array([min(c, FORBIDDEN) for c in costs], dtype=numpy.int64).reshape(sizes[a], sizes[b])
                known[key] = table, partners(table, sizes[a], sizes[b])
            table, partner = known[key]
            if partner is not None:
                self.followers.join(a, b, partner)  # Its costs stay an edge's, of a root with itself.
            result.append((a, b, table))
        return result

    def add_node_variables(self, sizes):
        costs = {}
        for node, (root, mapping) in enumerate(self.roots):
            own = self.problem["nodes"]["costs"][node]
            sums = costs.setdefault(root, [0] * sizes[root])
            for s, t in enumerate(mapping or range(sizes[root])):
                sums[s] += own[t]
        for root, sums in costs.items():
            self.first[root] = len(self.cost)
            self.cost += [0 if c >= FORBIDDEN else c for c in sums]
            self.upper += [0 if c >= FORBIDDEN else 1 for c in sums]

    def tables_by_roots(self, edges):
        """Sums of the edges' tables, by pairs of roots; tables of followers go to the root's own costs."""
        sums = {}
        for a, b, table in edges:
            (root_a, map_a), (root_b, map_b) = self.roots[a], self.roots[b]
            table = table if map_a is None else table[map_a, :]
            table = table if map_b is None else table[:, map_b]
            if root_a == root_b:
                for s, c in enumerate(table.diagonal().tolist()):
                    self.cost[self.first[root_a] + s] += 0 if c >= FORBIDDEN else c
                    if c >= FORBIDDEN:
                        self.upper[self.first[root_a] + s] = 0
                continue
            if root_a > root_b:
                root_a, root_b, table = root_b, root_a, table.T
            old = sums.get((root_a, root_b))
            sums[root_a, root_b] = table if old is None else numpy.minimum(old + table, FORBIDDEN)
        return {pair: table for pair, table in sums.items() if table.any()}

    def add_row(self, columns, values, lower, upper):
        self.columns.append(numpy.fromiter(columns, dtype=numpy.int32))
        self.values.append(numpy.ones(len(self.columns[-1])) if values is None else numpy.array(values, dtype=float))
        self.row_lower.append(lower)
        self.row_upper.append(upper)

    def add_edge(self, first_a, first_b, table):
        rows, cols = numpy.nonzero(table < FORBIDDEN)
        variables = len(self.cost) + numpy.arange(len(rows), dtype=numpy.int32)
        self.cost += table[rows, cols].tolist()
        self.upper += [1] * len(rows)
        for ends, first, size in ((rows, first_a, table.shape[0]), (cols, first_b, table.shape[1])):
            for s in range(size):
                mine = variables[ends == s]
                self.add_row(numpy.append(mine, first + s), numpy.append(numpy.ones(len(mine)), -1.0), 0, 0)

    def add_memory_rows(self):
        """Of the time steps at which something begins, those before something ends: the others are implied."""
        limit = self.problem.get("usage_limit")
        if limit is None:
            return
        nodes = self.problem["nodes"]
        begins, ends = collections.defaultdict(list), collections.defaultdict(list)
        for node, (begin, end) in enumerate(nodes["intervals"]):
            if begin < end:
                begins[begin].append(node)
                ends[end].append(node)
        alive, grown = set(), False
        for time in sorted(begins.keys() | ends.keys()):
            if grown and ends[time]:
                self.add_memory_row(sorted(alive), limit)
                grown = False
            alive.difference_update(ends[time])
            alive.update(begins[time])
            grown = grown or bool(begins[time])

    def add_memory_row(self, alive, limit):
        usages = self.problem["nodes"]["usages"]
        if sum(max(usages[node]) for node in alive) <= limit:
            return
        sums = collections.Counter()
        for node in alive:
            root, mapping = self.roots[node]
            for s, t in enumerate(mapping or range(len(usages[node]))):
                sums[self.first[root] + s] += usages[node][t]
        # In thousandths of the limit, for the same reason as the costs are scaled.
        self.add_row(sums.keys(), [use * 1000 / limit for use in sums.values()], -numpy.inf, 1000)

    def objective(self, value):
        """A solver's objective in the problem's unit."""
        return value * self.scale

    def choice(self, solution):
        """One strategy a node of the problem."""
        result = []
        for node, (root, mapping) in enumerate(self.roots):
            first, size = self.first[root], len(self.problem["nodes"]["costs"][root])
            s = int(numpy.argmax(solution[first : first + size]))
            result.append(s if mapping is None else mapping[s])
        return result
