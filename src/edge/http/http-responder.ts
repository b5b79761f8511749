/**
 * Sends one answer on a response of the transport: exactly once, corked, and never after an abort. The abort handler is
 * set before anything can throw, or uWebSockets.js would end the process (pitfalls 2.1). Header values are checked,
 * because uWebSockets.js lets CR and LF through.
 */

import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { alwaysDurable, type DurabilityGate } from "../../durability/journal/durability-gate.ts";
import type { RecordNumber } from "../../durability/journal/journal.ts";
import type { Clock } from "../../runtime/clock.ts";
import { step } from "../../runtime/life-cycle.ts";
import type { Realm, RealmUse } from "../../runtime/realm.ts";
import type { ReservedBytes, UnsentBytes } from "../../runtime/unsent-bytes.ts";
import type { TransportResponse } from "../transport/transport.ts";
import type { AccessRecord, FailedRequests } from "./access-log.ts";
import {
  type AnswerCompressor,
  AnswerSender,
  codingFor,
  FileSender,
  isCompressible,
  offer,
  varied,
} from "./answer-sender.ts";
import {
  AnswerBytes,
  bodySize,
  encodeSmall,
  type FileSlice,
  type HttpReply,
  hasNoBody,
  refused,
  writeAnswerHead,
} from "./reply.ts";
import type { RequestHead } from "./request-head.ts";
import {
  type Head,
  type Leaving,
  open,
  over,
  type ResponderState,
  responderLife,
  stopping,
  writing,
} from "./responder-states.ts";

/** In place of an answer for which there is no room. */
function overloadedAs({ rateLines }: HttpReply): HttpReply {
  return { ...refused(refuse.overloaded()), rateLines };
}

const nothing = () => undefined;

const internalErrorStatus = 500;

export interface HttpResponderOptions {
  readonly clock: Clock;
  /** Bytes of answers that clients have not read yet. */
  readonly unsent: UnsentBytes;
  /** Whether the server itself encrypts its connections. */
  readonly isSecure?: boolean;
  /** Absent where they are not read. */
  readonly failures?: FailedRequests;
  /** Absent where all answers are short. */
  readonly compressor?: AnswerCompressor;
}

export class HttpResponder {
  readonly #response: TransportResponse;
  readonly #options: HttpResponderOptions;
  #address: string | null = null;
  #state: ResponderState = open;
  /** While the state is open; null if there are none, which is usual. */
  #abortListeners: (() => void)[] | null = null;
  #isLast = false;
  #gate: DurabilityGate = alwaysDurable;
  /** The newest record that the answer shows; null: the newest record in memory when the answer is given. */
  #seen: RecordNumber | null = null;
  #who: (() => string) | null = null;
  readonly #onEnd: () => void;
  #onRelease: () => void = nothing;
  #use: RealmUse | null = null;
  /** Gets the end of the request; null if it is not logged. */
  record: AccessRecord | null = null;

  /** @param onEnd called once when the request is over and no bytes of its answer are unsent */
  constructor(response: TransportResponse, options: HttpResponderOptions, onEnd: () => void) {
    this.#response = response;
    this.#options = options;
    this.#onEnd = onEnd;
    response.onAborted(() => this.#abort());
  }

  /** Address of the client. It must be read for the first time while the response is open. */
  address(): string {
    this.#address ??= Buffer.from(this.#response.getRemoteAddressAsText()).toString("latin1");
    return this.#address;
  }

  /** Answered, or abandoned by the client. */
  get isOver(): boolean {
    return this.#state.kind !== "open";
  }

  /** Closes the connection with the answer: the rest of the client's input is not read. */
  endConnection(): void {
    this.#isLast = true;
  }

  /** The answer will show what the realm's memory holds, so it leaves through the realm's gate (M1, M9). */
  readsFrom({ gate }: Pick<Realm, "gate">): void {
    this.#gate = gate;
    gate.reads.begin(gate.isOpen);
  }

  /**
   * The request is served by a realm, which stays open until the request is over.
   * @param who the user or address whose share an unsent answer counts against; by default the connection's address
   */
  enter(realm: Pick<Realm, "gate" | "use">, who: (() => string) | null = null): void {
    this.readsFrom(realm);
    this.#who = who;
    if (this.isOver || this.#use !== null) return;
    realm.use.begin();
    this.#use = realm.use;
  }

  /** @param callback called once when the request is over, before the constructor's `onEnd` */
  onRelease(callback: () => void): void {
    this.#onRelease = callback;
  }

  #end(): void {
    this.record?.ended();
    this.#onRelease();
    this.#onEnd();
    this.#use?.end();
    this.#use = null;
  }

  /** Called when the client disconnects before the answer, or at once if it already has. */
  onAbort(callback: () => void): void {
    if (this.#state.kind !== "open") {
      callback();
      return;
    }
    this.#abortListeners ??= [];
    this.#abortListeners.push(callback);
  }

  #abort(): void {
    this.record?.aborted();
    const state = this.#state;
    switch (state.kind) {
      case "open":
        this.#state = step(responderLife, state, "abort", over);
        for (const listener of this.#abortListeners ?? []) listener();
        this.#end();
        return;
      case "waiting":
        void state.reply.file?.close();
        state.reserved?.release();
        this.#state = step(responderLife, state, "abort", over);
        this.#end();
        return;
      case "delayed":
        void state.file?.close();
        this.#ended();
        return;
      case "writing":
        this.#ended();
        return;
      case "compressing":
        state.stop();
        this.#ended();
        return;
      case "sending":
        this.#state = step(responderLife, state, "abort", stopping);
        state.stop();
        return;
      case "stopping":
      case "over":
        return;
      default:
        state satisfies never;
    }
  }

  #ended(): void {
    const state = this.#state;
    if (state.kind === "open" || state.kind === "waiting" || state.kind === "over") return;
    this.#state = step(responderLife, state, "end", over);
    this.#end();
  }

  /**
   * @param head null if the request could not even be read
   * @param isImmediate everything since `enter` was synchronous: the answer shows what was read meanwhile, and nothing
   *   else. Otherwise it shows whatever memory holds
   */
  answer(reply: HttpReply, head: RequestHead | null, isImmediate = false): void {
    if (isImmediate) this.#seen = this.#gate.reads.newestRecord;
    const state = this.#state;
    if (state.kind !== "open") {
      void reply.file?.close();
      return;
    }
    // Thrown while the response is still open, so the caller can answer with an error.
    for (const [name, value] of reply.headers) {
      if (/[\r\n]/.test(value)) throw new Error(`header ${name} would contain a line break`);
    }
    if (reply.closesConnection === true) this.#isLast = true;
    const seen = this.#seen ?? this.#gate.newestRecord;
    if (this.#gate.isOpenFor(seen)) {
      this.#leave(state, reply, head);
      return;
    }
    this.#waitForDisk(reply, head, seen);
  }

  /** A large answer counts as unsent while it waits: the disk may stand still for seconds. */
  #waitForDisk(reply: HttpReply, head: Head, seen: RecordNumber): void {
    const size = reply.file === undefined ? bodySize(reply.body) : 0;
    const isLarge = size > limits.answer_small_bytes_max;
    const reserved = isLarge ? this.#options.unsent.reserve(this.#reader(), size, () => this.#evict()) : null;
    const isRefused = isLarge && reserved === null;
    const state = this.#state;
    if (state.kind !== "open") {
      reserved?.release();
      return;
    }
    if (isRefused && head?.method !== "GET") {
      this.#response.close();
      return;
    }
    const kept = isRefused ? overloadedAs(reply) : reply;
    this.#state = step(responderLife, state, "wait", { kind: "waiting", reply: kept, head, reserved } as const);
    // The gate keeps nothing of the answer, so an abort frees its memory at once.
    this.#gate.waitFor(() => this.#release(), seen);
  }

  #release(): void {
    const state = this.#state;
    if (state.kind !== "waiting") return;
    state.reserved?.release();
    this.#leave(state, state.reply, state.head);
  }

  #leave(state: Leaving, reply: HttpReply, head: RequestHead | null): void {
    if (!this.#isLast) {
      this.#state = step(responderLife, state, "answer", writing);
      this.#write(reply, head);
      return;
    }
    // If answered at once, uWebSockets.js would parse the bytes after the request in the same segment as the next
    // request. While the answer is pending it closes instead.
    const delayed = step(responderLife, state, "delay", { kind: "delayed", file: reply.file } as const);
    this.#state = delayed;
    this.#options.clock.soon(() => {
      if (this.#state !== delayed) return;
      this.#state = step(responderLife, delayed, "write", writing);
      this.#write(reply, head);
    });
  }

  /** A long answer is compressed first, if its client accepts that and there is room. */
  #write(reply: HttpReply, head: Head): void {
    if (!isCompressible(reply)) this.#send(reply, head);
    else if (head?.method === "HEAD") this.#sendHead(varied(reply), head, codingFor(head.acceptEncoding) === null);
    else this.#compress(varied(reply), head);
  }

  #compress(reply: HttpReply, head: Head): void {
    const stop = this.#options.compressor?.begin(reply, head?.acceptEncoding ?? "", (compressed) => {
      const state = this.#state;
      if (state.kind !== "compressing") return;
      this.#state = step(responderLife, state, "send", writing);
      this.#send(compressed ?? reply, head);
    });
    const state = this.#state;
    if (stop === undefined || stop === null || state.kind !== "writing") this.#send(reply, head);
    else this.#state = step(responderLife, state, "compress", { kind: "compressing", stop });
  }

  #send(reply: HttpReply, head: RequestHead | null): void {
    const { file, body } = reply;
    if (head?.method === "HEAD" || hasNoBody(reply.status)) {
      void file?.close();
      this.#sendHead(reply, head, head?.method === "HEAD");
      return;
    }
    this.record?.answered(reply.status, file?.length ?? bodySize(body));
    if (file !== undefined && file.length > 0) {
      this.#sendFile(reply, file, head);
      return;
    }
    void file?.close();
    const bytes = encodeSmall(body);
    if (bytes === null) this.#sendLarge(reply, head);
    else this.#sendSmall(reply, bytes, head);
  }

  /** @param showsLength false if there is no content, or if GET might compress it */
  #sendHead(reply: HttpReply, head: Head, showsLength: boolean): void {
    this.record?.answered(reply.status, 0);
    const response = this.#response;
    response.cork(() => {
      this.#writeHead(reply, head);
      // endWithoutBody(length) leaves the response unfinished in this build: the next request would hang.
      if (showsLength) response.writeHeader("Content-Length", String(reply.file?.length ?? bodySize(reply.body)));
      response.endWithoutBody();
    });
    this.#ended();
  }

  /** @param bytes the body, in memory that the next answer uses */
  #sendSmall(reply: HttpReply, bytes: Buffer, head: RequestHead | null): void {
    const response = this.#response;
    const size = bytes.length;
    let isTaken = true;
    response.cork(() => {
      this.#writeHead(reply, head);
      if (this.#isLast || size === 0) response.end(bytes, this.#isLast);
      else [isTaken] = response.tryEnd(bytes, size);
    });
    if (isTaken) this.#ended();
    else {
      const rest = new AnswerBytes(Buffer.from(bytes));
      const reserved = this.#options.unsent.reserveSmall(this.#reader(), size, () => this.#evict());
      this.#sendRest({ bytes: rest, isTaken }, reserved);
    }
  }

  /**
   * A GET without room gets 503 and can be repeated. After a change the connection is closed instead, because a 503
   * would say that the change failed.
   */
  #sendLarge(reply: HttpReply, head: RequestHead | null): void {
    const response = this.#response;
    const bytes = new AnswerBytes(reply.body);
    const reserved = this.#options.unsent.reserve(this.#reader(), bytes.size, () => this.#evict());
    if (reserved === null && head?.method === "GET") {
      this.#send(overloadedAs(reply), head);
      return;
    }
    if (reserved === null) {
      response.close();
      return;
    }
    let [isTaken, isDone] = [false, false];
    response.cork(() => {
      this.#writeHead(reply, head);
      if (this.#isLast) response.writeHeader("Connection", "close");
      ({ isTaken, isDone } = offer(response, bytes, 0));
    });
    if (!isDone) {
      this.#sendRest({ bytes, isTaken }, reserved);
      return;
    }
    reserved.release();
    this.#ended();
  }

  #sendRest(rest: { readonly bytes: AnswerBytes; readonly isTaken: boolean }, reserved: ReservedBytes): void {
    const { clock } = this.#options;
    const onEnd = () => {
      reserved.release();
      this.#ended();
    };
    const sender = new AnswerSender({ response: this.#response, ...rest, clock, onEnd });
    this.#wait(() => sender.end());
  }

  /** @param stop makes the sender of the rest end; it reports when it has */
  #wait(stop: () => void): void {
    const state = this.#state;
    if (state.kind === "writing") this.#state = step(responderLife, state, "wait", { kind: "sending", stop });
    // The client disconnected while the first bytes were written.
    else stop();
  }

  #reader(): string {
    return this.#who?.() ?? this.address();
  }

  #evict(): void {
    const { kind } = this.#state;
    if (kind === "waiting" || kind === "writing" || kind === "sending") this.#response.close();
  }

  /** The response ends when the file was sent; an error on the way closes the connection. */
  #sendFile(reply: HttpReply, file: FileSlice, head: RequestHead | null): void {
    const sender = new FileSender(this.#response, file, this.#options.clock);
    this.#wait(() => sender.abort());
    this.#response.cork(() => this.#writeHead(reply, head));
    const ended = () => this.#ended();
    sender.send().then(ended, ended);
  }

  #writeHead(reply: HttpReply, head: RequestHead | null): void {
    const hasFailed = reply.status === internalErrorStatus;
    const requestId = (hasFailed ? this.#options.failures?.note(head, this.record) : this.record?.id) ?? "";
    const isSecure = head?.forwarded.isSecure ?? this.#options.isSecure === true;
    writeAnswerHead(this.#response, reply, { head, requestId, isSecure });
  }
}
