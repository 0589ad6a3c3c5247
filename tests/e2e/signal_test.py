"""What ends the command from outside: its temporary folders do not stay."""

import os
import signal
import stat
import subprocess
import time

from command import BINARY, MODELS, CommandTest, step_of


class Signals(CommandTest):
    def end_by(self, number, *arguments, ignored=False):
        """Sends the signal as soon as there is a temporary folder; the exit status."""
        before = (lambda: signal.signal(number, signal.SIG_IGN)) if ignored else None
        process = subprocess.Popen([BINARY, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=os.environ | {"TMPDIR": str(self.folder)}, preexec_fn=before)
        end = time.monotonic() + 120
        while not any(self.folder.iterdir()) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        self.assertIsNone(process.poll(), "it ended before it made a folder")
        process.send_signal(number)
        _, errors = process.communicate(timeout=120)
        self.assertEqual(errors, b"") if not ignored else None
        return process.returncode

    def test_temporary_folders_do_not_stay(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for form in ("hlo.pb", "mlir"):  # in the compiler; in the process that reads StableHLO
                status = self.end_by(number, "run", *step_of("gpt", form), "--mesh", "8", "--method", "data", "--inputs",
                                     MODELS / "gpt" / "inputs.safetensors")
                self.assertEqual(status, -number, form)
                self.assertEqual(list(self.folder.iterdir()), [], (number, form))

    def test_what_is_ignored_stays_ignored(self):
        self.assertEqual(self.end_by(signal.SIGHUP, "run", *step_of("mlp"), "--mesh", "2", ignored=True), 0)
        self.assertEqual(list(self.folder.iterdir()), [])


class TemporaryFolders(CommandTest):
    def test_folder_that_is_not_there(self):
        self.refuse("run", *step_of("mlp"), "--mesh", "2", says=["TMPDIR"], TMPDIR=str(self.folder / "none"))

    def test_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        closed = self.folder / "closed"
        closed.mkdir()
        closed.chmod(stat.S_IRUSR | stat.S_IXUSR)
        self.refuse("run", *step_of("mlp"), "--mesh", "2", says=["TMPDIR", "Permission denied"], TMPDIR=str(closed))
