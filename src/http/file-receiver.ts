/**
 * A multipart body with one file, written to disk while it comes: in memory there is never more than `upload_buffer_bytes` of it,
 * because the socket is paused while the disk is busy (S3). The parser is a library; what it may hold has bounds here.
 */
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { uploadName } from "../../schemas/files.ts";
import { limits } from "../../schemas/limits.ts";
import type { DraftedFile, Submitted } from "../runtime/calls.ts";
import type { Realm } from "../runtime/realm.ts";
import { addParameter, malformedMultipart, readQuery } from "./form.ts";
import { fileLabel, newFileId } from "./uploads.ts";

type Parser = InstanceType<typeof Busboy>;

export interface ReceiverOptions {
  readonly realm: Realm;
  readonly contentType: string;
  readonly query: string;
  /** Of the file. */
  readonly bytesMax: number;
  /** More may be written now. */
  readonly onDrain: () => void;
  /** The disk or the system failed in a way that nobody expects. */
  readonly reportBug: (error: unknown) => void;
  /** The rest of the body is not wanted. */
  readonly onRefused: (refused: Refusal) => void;
}

export class FileReceiver {
  readonly #options: ReceiverOptions;
  readonly #parser: Parser | null;
  readonly #values = new Map<string, string>();
  #valueBytes = 0;
  readonly #drafts: DraftedFile[] = [];
  #files = 0;
  #refused: Refusal | null = null;
  #isAbandoned = false;
  /** Of the file's bytes to disk. */
  #writing: Promise<void> = Promise.resolve();
  readonly #parsed: Promise<void>;
  #stream: BusboyFileStream | null = null;
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#parser = createParser(options);
    this.#parsed = this.#parser === null ? Promise.resolve() : this.#listen(this.#parser);
  }

  #listen(parser: Parser): Promise<void> {
    parser.on("drain", () => this.#options.onDrain());
    parser.on("field", (name, value, _isNameCut, isValueCut) => this.#addValue(name, value, isValueCut));
    parser.on("file", (_field, stream, filename) => {
      const label = fileLabel(filename ?? "");
      // The parser tells a broken body to the file in it, too: without a listener that would end the process.
      stream.on("error", () => undefined);
      // A field of a page's form in which nothing was chosen has no name.
      if (filename !== "") this.#files++;
      if (filename === "" || this.#files > 1 || this.#refused !== null) stream.resume();
      else this.#writing = this.#write(stream, label);
    });
    for (const bound of ["partsLimit", "fieldsLimit", "filesLimit"] as const) {
      parser.on(bound, () => this.#refuse(refuse.badRequest("Too many parameters")));
    }
    return new Promise((resolve) => {
      parser.on("finish", resolve);
      parser.on("error", () => {
        this.#refuse(malformedMultipart());
        resolve();
      });
    });
  }

  #addValue(name: unknown, value: string, isCut: boolean): void {
    this.#valueBytes += Buffer.byteLength(value);
    if (isCut || this.#valueBytes > limits.upload_margin_bytes) {
      this.#refuse(refuse.bodyTooLarge(limits.upload_margin_bytes));
      return;
    }
    const refused = typeof name === "string" ? addParameter(this.#values, name, value) : malformedMultipart();
    if (refused !== null) this.#refuse(refused);
  }

  /** Never rejects: it is waited for at the end of the body only. */
  async #write(stream: BusboyFileStream, filename: string): Promise<void> {
    this.#stream = stream;
    try {
      await this.#receive(stream, filename);
    } catch (error) {
      // The disk or the system fails; a process that has no descriptor left will have some again.
      stream.resume();
      const isBusy = (error as NodeJS.ErrnoException).code === "EMFILE";
      if (!isBusy) this.#options.reportBug(error);
      this.#refuse(isBusy ? refuse.overloaded() : refuse.internalError());
    }
  }

  async #receive(stream: BusboyFileStream, filename: string): Promise<void> {
    const file = newFileId();
    const hash = createHash("sha256");
    const draft = await this.#options.realm.files.draft(uploadName(file));
    if (draft === null) {
      stream.resume();
      this.#refuse(refuse.storeRefusesWrites());
      return;
    }
    let ofDisk: unknown = null;
    const noted = (work: Promise<boolean>) =>
      work.catch((error: unknown) => {
        ofDisk = error;
        throw error;
      });
    try {
      const isWhole = await this.#copy(stream, (chunk) => {
        hash.update(chunk);
        return noted(draft.write(chunk));
      });
      if (isWhole && (await noted(draft.finish()))) {
        this.#drafts.push({ filename, file, draft, sha256: hash.digest("base64url") });
        return;
      }
      this.#refuse(stream.truncated ? refuse.fileTooLarge(this.#options.bytesMax) : refuse.storeRefusesWrites());
    } catch {
      // Otherwise the body ended in the middle of the file.
      if (ofDisk === null) this.#refuse(malformedMultipart());
    }
    await draft.giveUp();
    if (ofDisk !== null) throw ofDisk;
  }

  /** @returns false when a piece found no room, or the file is too large */
  async #copy(stream: BusboyFileStream, write: (chunk: Buffer) => Promise<boolean>): Promise<boolean> {
    for await (const chunk of stream as Readable) {
      if (stream.truncated || this.#isAbandoned || !(await write(chunk as Buffer))) return false;
    }
    return !stream.truncated && !this.#isAbandoned;
  }

  #refuse(refused: Refusal): void {
    if (this.#refused !== null) return;
    this.#refused = refused;
    this.#end();
    if (!this.#isAbandoned) this.#options.onRefused(refused);
  }

  /** @returns false: no more until `onDrain` */
  write(chunk: Buffer): boolean {
    return this.#refused !== null || this.#parser === null || this.#parser.write(chunk);
  }

  /** The body is whole. */
  async end(): Promise<Submitted | Refusal> {
    if (this.#parser === null) return malformedMultipart();
    this.#parser.end();
    // What was refused may never be read to its end.
    await Promise.race([this.#parsed.then(() => this.#writing), this.#ended]);
    if (this.#refused !== null) return this.#refused;
    const refused = readQuery(this.#options.query, this.#values);
    if (refused !== null) return refused;
    if (this.#files > 1) return refuse.badRequest("You may only upload one file at a time");
    return { values: this.#values, files: [], drafts: this.#drafts };
  }

  /** What no row has is removed. Also called when the client hung up: then nothing of the file stays. */
  async close(): Promise<void> {
    this.#isAbandoned = true;
    this.#stream?.destroy();
    await this.#writing;
    for (const { draft } of this.#drafts) await draft.giveUp();
  }
}

/** null: the header names no boundary. */
function createParser({ contentType, bytesMax }: ReceiverOptions): Parser | null {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      isPartAFile: (_field, _contentType, filename) => filename !== undefined,
      preservePath: true,
      fileHwm: limits.upload_chunk_bytes,
      highWaterMark: limits.upload_chunk_bytes,
      limits: {
        fileSize: bytesMax,
        fieldSize: limits.upload_margin_bytes,
        fields: limits.form_parameters_max,
        parts: limits.form_parameters_max,
        headerSize: limits.upload_part_headers_bytes_max,
      },
    });
  } catch {
    return null;
  }
}
