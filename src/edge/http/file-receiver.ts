/**
 * Receives a multipart body with one file and writes it to disk as it arrives. At most `upload_buffer_bytes` of it are
 * in memory, because the socket is paused while the disk is busy (S3). The parser is a library; its buffers are bounded
 * here.
 */
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { uploadName } from "../../../schemas/files.ts";
import { limits } from "../../../schemas/limits.ts";
import { addParameter, type StagedFile } from "../../operations/calls.ts";
import { newFileId } from "../../operations/media/uploads.ts";
import type { Realm } from "../../runtime/realm.ts";
import { descriptors, isOutOfDescriptors } from "../../store/descriptors.ts";
import { extendedName, fileLabel, malformedMultipart, parametersOf, readQuery, type SubmittedForm } from "./form.ts";

type Parser = InstanceType<typeof Busboy>;

export interface ReceiverOptions {
  readonly realm: Realm;
  readonly contentType: string;
  readonly query: string;
  /** Maximum size of the file. */
  readonly bytesMax: number;
  /** More bytes may be written now. */
  readonly onDrain: () => void;
  /** The disk or the system failed unexpectedly. */
  readonly reportBug: (error: unknown) => void;
  /** The rest of the body is not needed. */
  readonly onRefused: (refused: Refusal) => void;
}

export class FileReceiver {
  readonly #options: ReceiverOptions;
  readonly #parser: Parser | null;
  readonly #values = new Map<string, string>();
  #valueBytes = 0;
  readonly #stagedFiles: StagedFile[] = [];
  #files = 0;
  #refused: Refusal | null = null;
  #isAbandoned = false;
  /** Writing the file's bytes to disk. */
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
    let extended: string | null = null;
    onPartHeaders(parser, (disposition) => {
      extended = extendedName(parametersOf(disposition));
    });
    parser.on("file", (_field, stream, plainName) => {
      const filename = extended ?? plainName;
      const label = fileLabel(filename ?? "");
      // For a broken body the parser also emits an error on the file stream; without a listener that would end the
      // process.
      stream.on("error", () => undefined);
      // A file field of an HTML form in which no file was chosen has an empty file name.
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

  /** Never rejects, because it is awaited only at the end of the body. */
  async #write(stream: BusboyFileStream, filename: string): Promise<void> {
    this.#stream = stream;
    try {
      await this.#receive(stream, filename);
    } catch (error) {
      // The disk or the system failed.
      stream.resume();
      const isBusy = isOutOfDescriptors(error);
      if (!isBusy) this.#options.reportBug(error);
      this.#refuse(isBusy ? refuse.overloaded() : refuse.internalError());
    }
  }

  async #receive(stream: BusboyFileStream, filename: string): Promise<void> {
    if (!descriptors.hasRoom()) {
      stream.resume();
      this.#refuse(refuse.overloaded());
      return;
    }
    const file = newFileId();
    const hash = createHash("sha256");
    const upload = await this.#options.realm.files.stage(uploadName(file));
    if (upload === null) {
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
        return noted(upload.write(chunk));
      });
      if (isWhole && (await noted(upload.finish()))) {
        this.#stagedFiles.push({ filename, file, upload, sha256: hash.digest("base64url") });
        return;
      }
      this.#refuse(stream.truncated ? refuse.fileTooLarge(this.#options.bytesMax) : refuse.storeRefusesWrites());
    } catch {
      // Otherwise the body ended in the middle of the file.
      if (ofDisk === null) this.#refuse(malformedMultipart());
    }
    await upload.giveUp();
    if (ofDisk !== null) throw ofDisk;
  }

  /** @returns false if the file is too large, or a chunk could not be written */
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

  /** @returns false: wait for `onDrain` before writing more */
  write(chunk: Buffer): boolean {
    return this.#refused !== null || this.#parser === null || this.#parser.write(chunk);
  }

  /** The body is complete. */
  async end(): Promise<SubmittedForm | Refusal> {
    if (this.#parser === null) return malformedMultipart();
    this.#parser.end();
    // A rejected body may never be read to its end.
    await Promise.race([this.#parsed.then(() => this.#writing), this.#ended]);
    if (this.#refused !== null) return this.#refused;
    const refused = readQuery(this.#options.query, this.#values);
    if (refused !== null) return refused;
    if (this.#files > 1) return refuse.badRequest("You may only upload one file at a time");
    return { values: this.#values, files: [], stagedFiles: this.#stagedFiles };
  }

  /** Removes files that no row claimed. Also called when the client disconnects: nothing of the file remains then. */
  async close(): Promise<void> {
    this.#isAbandoned = true;
    this.#stream?.destroy();
    await this.#writing;
    for (const { upload } of this.#stagedFiles) await upload.giveUp();
  }
}

interface PartHeaders {
  on(event: "header", listener: (headers: Readonly<Record<string, readonly string[]>>) => void): unknown;
}

/** The library tells the name of a file, but not in which of its two forms: this is the parser inside it. */
interface InnerParser {
  readonly _parser: {
    readonly parser: { prependListener(event: "part", listener: (part: PartHeaders) => void): unknown };
  };
}

/** @param heard gets each part's Content-Disposition before the parser handles the part */
function onPartHeaders(parser: Parser, heard: (disposition: string) => void): void {
  const { parser: inner } = (parser as Parser & InnerParser)._parser;
  inner.prependListener("part", (part) => {
    part.on("header", (headers) => heard(headers["content-disposition"]?.[0] ?? ""));
  });
}

/** Returns null if the header has no boundary. */
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
        headerPairs: limits.upload_part_headers_max,
      },
    });
  } catch {
    return null;
  }
}
