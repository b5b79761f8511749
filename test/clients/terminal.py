"""Plays the person in front of a terminal program: waits for texts on the screen and presses keys, as a list of steps in JSON says.

Each step is {"see": text} or {"press": keys}. What the program draws after a key must show the next text that is waited for.
"""

import fcntl
import itertools
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

steps = json.loads(sys.argv[1])
command = sys.argv[2:]
rows, columns = 40, 140
seconds_per_step = 300
seconds_per_width = 10

control_sequence = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][0-9A-Za-z]|\x1b[=>]|[\x0e\x0f\r]")

pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm-256color"
    os.execv(command[0], command)


def resize(width):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, width, 0, 0))


resize(columns)
other_widths = itertools.cycle((columns - 1, columns))
drawn = ""


def see(text):
    """Waits until the text has been drawn since the last key.

    Programs that draw with urwid can keep an old picture of a widget for good: one thread changes the widget while
    another one draws it. Such a picture is of one width, so another width shows what there is.
    """
    global drawn
    deadline = time.monotonic() + seconds_per_step
    while text not in control_sequence.sub("", drawn):
        left = max(0, deadline - time.monotonic())
        ready, _, _ = select.select([terminal], [], [], min(left, seconds_per_width))
        if not ready and left > seconds_per_width:
            resize(next(other_widths))
            continue
        try:
            piece = os.read(terminal, 65536) if ready else b""
        except OSError:
            piece = b""
        if piece == b"":
            sys.exit(f"did not see {text!r} in {control_sequence.sub('', drawn)!r}")
        drawn += piece.decode("utf-8", "replace")


def press(keys):
    global drawn
    drawn = ""
    os.write(terminal, keys.encode())


for step in steps:
    for action, argument in step.items():
        {"see": see, "press": press}[action](argument)
        print(json.dumps(step), flush=True)

os.kill(pid, 9)
os.waitpid(pid, 0)
