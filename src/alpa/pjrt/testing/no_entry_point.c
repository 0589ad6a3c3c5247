/* A shared object that is no plug-in: it has no symbol GetPjrtApi. */
int alpa_testing_no_entry_point(void) { return 0; }
