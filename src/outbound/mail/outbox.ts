/**
 * Writes emails as files if no mail server is configured: `<realm>-<id>.eml` in the outbox, for any mail client. A file
 * is complete or absent, even after a power cut: temporary file, fsync, rename, fsync of the folder. Other users cannot
 * read it.
 */
import { mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { flushFolder } from "../../store/folders.ts";
import { confined, loadNodemailer, type MailTransport, type Parcel } from "./transport.ts";

export function outboxTransport(folder: string): MailTransport {
  let isLaid = false;
  const writes = new Set<Promise<void>>();

  async function write({ name, renderedMail, signal }: Parcel): Promise<void> {
    const createTransport = await loadNodemailer();
    const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows", ...confined });
    const { message } = await composer.sendMail({ ...renderedMail });
    signal.throwIfAborted();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Once per process: the folder's own entry must be flushed, too.
    if (!isLaid) await flushFolder(dirname(folder));
    isLaid = true;
    await writeWhole(folder, `${name}.eml`, message as Buffer);
  }

  return {
    async send(parcel) {
      const writing = write(parcel);
      writes.add(writing);
      await writing.finally(() => writes.delete(writing));
    },
    // A file that has been begun is finished, also after an abort: nothing touches the folder once the server stopped.
    async close() {
      await Promise.allSettled(writes);
    },
  };
}

/** A temporary file that a crash left is overwritten by the repeat, because its name is derived from the email. */
async function writeWhole(folder: string, name: string, bytes: Buffer): Promise<void> {
  const draft = join(folder, `.${name}.draft`);
  const file = await open(draft, "w", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(folder, name));
  await flushFolder(folder);
}
