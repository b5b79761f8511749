/**
 * Letters as files, where no mail server is configured: `<realm>-<id>.eml` in the outbox, for any mail program. A file is there
 * whole or not at all, and after a power cut, too: temporary file, fsync, rename, fsync of the folder. Nobody else may read it.
 */
import { mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { flushFolder } from "../../store/folders.ts";
import { confined, loadNodemailer, type MailTransport } from "./transport.ts";

export function outboxTransport(folder: string): MailTransport {
  let isLaid = false;
  return {
    async send({ name, letter }) {
      const createTransport = await loadNodemailer();
      const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows", ...confined });
      const { message } = await composer.sendMail({ ...letter });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Once per process: its own name is an entry, too.
      if (!isLaid) await flushFolder(dirname(folder));
      isLaid = true;
      await writeWhole(folder, `${name}.eml`, message as Buffer);
    },
    close: () => undefined,
  };
}

/** A draft that a crash left is overwritten by the repeat: the name is the mail's. */
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
