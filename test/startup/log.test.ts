/**
 * A log that cannot be written (S3, M5): the disk is full, or the reader has exited or never reads. The server
 * continues, little is buffered, and missing lines are counted. Real processes.
 */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { freePort } from "../support/ports.ts";
import { checkout, startProgram } from "../support/process.ts";
import { residentMib } from "../support/resident.ts";
import { temporaryFolder } from "../support/server.ts";

/** @param stderr "pipe", or a file descriptor of this process */
function startNoisy(t: Test, stderr: "pipe" | number) {
  const child = spawn(process.execPath, ["--import=tsx", "test/startup/noisy.ts"], {
    cwd: checkout,
    stdio: ["pipe", "pipe", stderr],
  });
  t.teardown(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  let waiter: (() => void) | null = null;
  let isOver = false;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    lines.push(...text.trim().split("\n"));
    waiter?.();
  });
  child.once("exit", () => {
    isOver = true;
    waiter?.();
  });
  return {
    child,
    /** @returns whether it has logged that many lines and still runs */
    async log(count: number): Promise<boolean> {
      const before = lines.length;
      child.stdin?.write(`${count}\n`);
      while (lines.length === before && !isOver) {
        await new Promise<void>((resolve) => {
          waiter = resolve;
        });
      }
      return !isOver;
    },
  };
}

t.test("[S3] the process survives a log on a full disk", { skip: !existsSync("/dev/full") }, async (t) => {
  const full = openSync("/dev/full", "w");
  t.teardown(() => closeSync(full));
  const noisy = startNoisy(t, full);
  for (const count of [1, 1000, 1000]) t.ok(await noisy.log(count));
});

t.test("[S3] the process survives a log whose reader has exited", async (t) => {
  const noisy = startNoisy(t, "pipe");
  t.ok(await noisy.log(1));
  noisy.child.stderr?.destroy();
  for (const count of [1000, 1000, 1000]) t.ok(await noisy.log(count));
});

t.test("[S3] log_waiting_bytes_max: a log that nobody reads blocks nothing, and counts missing lines", async (t) => {
  const noisy = startNoisy(t, "pipe");
  t.ok(await noisy.log(1));
  const { pid = 0, stderr } = noisy.child;
  const before = residentMib(pid);
  const count = 50_000;
  t.ok(await noisy.log(count), "all lines were accepted although none was read");
  t.ok(residentMib(pid) - before < 100, "and few of them are buffered");
  let read = "";
  const wholeLines = () => read.split("\n").slice(0, -1);
  const droppedIn = () => wholeLines().flatMap((line) => JSON.parse(line).dropped ?? []);
  stderr?.setEncoding("utf8").on("data", (text: string) => {
    read += text;
  });
  // The report is written with the first line for which there is space.
  let more = 0;
  while (droppedIn().length === 0) {
    t.ok(await noisy.log(1));
    more++;
  }
  const [dropped] = droppedIn();
  t.ok(dropped > 0);
  const kept = wholeLines().length - 1;
  t.ok(kept * 400 >= limits.log_waiting_bytes_max / 2, `${kept} lines were written`);
  t.ok(dropped + kept <= 1 + count + more);
});

t.test("[S3] a pipe without a reader, as a shell creates it", async (t) => {
  const fifo = join(temporaryFolder(t), "log");
  execFileSync("mkfifo", [fifo]);
  const fd = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
  t.teardown(() => closeSync(fd));
  const noisy = startNoisy(t, fd);
  for (const count of [1, 5000, 5000]) t.ok(await noisy.log(count));
});

t.test("[S3] the server keeps serving when the reader of its log has exited", async (t) => {
  const smtp = `smtp://127.0.0.1:${await freePort()}`;
  const { program, owner } = await startProgram(t, temporaryFolder(t), { SMTP_URL: smtp });
  const first = await owner.post("/invites", { invitee_emails: "ann@example.com" });
  t.equal(first.status, 200);
  await program.complained(/was not accepted/);
  program.closeStderr();
  t.equal((await owner.post("/invites", { invitee_emails: "bob@example.com, eve@example.com" })).status, 200);
  t.equal((await owner.get("/users/me")).status, 200);
  const { code } = await program.end("SIGTERM");
  t.equal(code, 0, "and stops in order");
});
