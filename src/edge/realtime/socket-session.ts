/**
 * One WebSocket connection (docs/realtime.md): waits for credentials, then passes frames to the same operations as
 * REST, and sends events. Replies repeat the frame's `ref`; an unknown or invalid frame gets an error reply, and the
 * connection stays open.
 */

import { command } from "../../../actors/protocol/decision.ts";
import type { Answer } from "../../../schemas/answer.ts";
import { type CloseCause, closeCauseOf, closeCodes } from "../../../schemas/close-codes.ts";
import type { ResultOf } from "../../../schemas/endpoint.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { registerQueue } from "../../../schemas/register.ts";
import type { ConnectionFrameType } from "../../../schemas/socket-frames.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Authenticated } from "../../operations/calls.ts";
import { step } from "../../runtime/life-cycle.ts";
import { bodyOf, type Result, statusOf } from "../../runtime/results.ts";
import type { UnsentBytes } from "../../runtime/unsent-bytes.ts";
import type { VolatileTimers } from "../../runtime/volatile-timers.ts";
import type { AnswerBody } from "../http/reply.ts";
import { type SocketConnection, sendStatus } from "../transport/transport.ts";
import type { FrameBatch } from "./frame-batch.ts";
import { type ConnectionListener, GatedConnection } from "./gated-connection.ts";
import type { Hub } from "./hub.ts";
import type { LiveQueue } from "./queue.ts";
import type { ApiKeyConnection, KeyEnd } from "./queue-registry.ts";
import { isLost } from "./replay.ts";
import { SendBuffer, type SendBufferOwner, type Sent } from "./send-buffer.ts";
import { decodeFrame, encodeAnswer, encodeReply, type Format, type Frame } from "./socket-frames.ts";
import type { SocketHost } from "./socket-host.ts";
import type { Visitor } from "./socket-operations.ts";
import { callOf, type SocketRequest } from "./socket-operations.ts";
import { type FrameOutput, SocketReader } from "./socket-reader.ts";
import { type Connecting, type SessionState, sessionLife } from "./socket-states.ts";
import type { UnauthenticatedSocket } from "./unauthenticated-sockets.ts";

/** Gives each session's timer a unique name. */
let sessions = 0;

const closed = { kind: "closed" } as const;

export class SocketSession
  implements ApiKeyConnection, ConnectionListener, FrameOutput, SendBufferOwner, UnauthenticatedSocket
{
  readonly #connection: GatedConnection;
  readonly #host: SocketHost;
  readonly #visitor: Visitor;
  readonly format: Format;
  #state: SessionState = { kind: "connecting", timer: `socket:${sessions++}` };
  #callsPending = 0;
  #framesRefused = 0;
  /** null while nothing waits, which is usual. */
  #sendBuffer: SendBuffer | null = null;

  constructor(connection: SocketConnection, host: SocketHost, visitor: Visitor) {
    this.#connection = new GatedConnection(connection, host.realm.gate, this);
    this.#host = host;
    this.#visitor = visitor;
    this.format = visitor.format;
  }

  get unsent(): UnsentBytes {
    return this.#host.unsent;
  }

  get volatileTimers(): VolatileTimers {
    return this.#host.realm.dispatcher.volatileTimers;
  }

  bufferedBytes(): number {
    if (this.#state.kind === "closed") return 0;
    return this.#sendBuffer?.bufferedBytes ?? this.#connection.getBufferedAmount();
  }

  hasUnread(): boolean {
    return this.bufferedBytes() > this.#connection.waitingBytes;
  }

  /** @param credentials the user from the upgrade's header; null if the first frame will carry credentials */
  start(credentials: Authenticated | null): void {
    const state = this.#state;
    if (state.kind !== "connecting") return;
    if (credentials !== null) {
      this.#admit(state, credentials);
      return;
    }
    const { realm, unauthenticated } = this.#host;
    unauthenticated.add(this, this.#visitor.address);
    realm.dispatcher.volatileTimers.set(state.timer, limits.socket_authentication_ms_max, () =>
      this.close("firstFrameLate"),
    );
  }

  /** The user or address whose share of memory this connection uses. */
  get sender(): string {
    return "account" in this.#state
      ? `${this.#host.realm.epoch}:${this.#state.account.caller.id}`
      : this.#visitor.address;
  }

  closeForOthers(): void {
    this.close("firstFrameLate");
  }

  #admit(state: Connecting, account: Authenticated): boolean {
    if (!this.#host.admit(account.caller.id)) {
      this.close("rateLimited");
      return false;
    }
    this.#state = step(sessionLife, state, "authenticate", { kind: "registering", account });
    this.#host.hub.connectionsByApiKey.add(account.keyHash, this);
    this.#noStranger(state);
    return true;
  }

  #noStranger({ timer }: Connecting): void {
    this.#host.unauthenticated.remove(this);
    this.#host.realm.dispatcher.volatileTimers.cancel(timer);
  }

  /** A frame arrived. Its bytes are valid only during this call. */
  receive(bytes: Uint8Array, isBinary: boolean): void {
    const state = this.#state;
    switch (state.kind) {
      case "connecting":
        this.#receiveFirst(state, bytes, isBinary);
        return;
      case "registering":
      case "live":
        this.#receiveNext(state.account, bytes, isBinary);
        return;
      // The close may still wait for the gate. Frames that arrive meanwhile are ignored, so nothing shows what follows.
      case "draining":
      case "closed":
        return;
      default:
        state satisfies never;
    }
  }

  #receiveFirst(state: Connecting, bytes: Uint8Array, isBinary: boolean): void {
    if (this.#isTooLarge(bytes, "The first", limits.ws_first_frame_bytes_max)) return;
    const decoded = decodeFrame(this.format, bytes, isBinary);
    if ("frame" in decoded) {
      this.#authenticate(state, decoded.frame);
      return;
    }
    this.#reply(decoded.ref, decoded.refusal);
    this.close("malformed");
  }

  #receiveNext(account: Authenticated, bytes: Uint8Array, isBinary: boolean): void {
    if (this.#isTooLarge(bytes, "A", limits.ws_frame_bytes_max)) return;
    const userId = account.caller.id;
    const decoded = decodeFrame(this.format, bytes, isBinary);
    if ("refusal" in decoded) {
      this.#reply(decoded.ref, this.#limit(userId) ?? decoded.refusal);
      return;
    }
    const { frame } = decoded;
    const request = this.#host.requests.read(frame);
    // The operation executor counts operations itself.
    const limited = typeof request !== "string" && request.kind === "operation" ? null : this.#limit(userId);
    if (limited !== null) this.#reply(frame.ref, limited);
    else if (typeof request === "string") this.#execute(request, frame, userId);
    else if (request.kind === "operation") this.#call(frame, request, account, bytes.byteLength);
    else this.#reply(frame.ref, request);
  }

  #isTooLarge(bytes: Uint8Array, which: string, bytesMax: number): boolean {
    if (bytes.byteLength <= bytesMax) return false;
    this.#reply(null, refuse.badRequest(`${which} frame has at most ${bytesMax} bytes`));
    this.close("frameTooLarge");
    return true;
  }

  #limit(userId: number): Refusal | null {
    const limited = this.#host.limitFrame(userId);
    this.#countRefused(limited !== null);
    return limited;
  }

  #authenticate(state: Connecting, frame: Frame): void {
    const { email, api_key: key } = frame.fields;
    if (frame.type !== "authenticate" || typeof email !== "string" || typeof key !== "string") {
      this.#reply(frame.ref, refuse.notLoggedIn());
      this.close("notAuthenticated");
      return;
    }
    const verified = this.#host.verify({ email, key }, this.#visitor.address);
    if (!("caller" in verified)) {
      this.#reply(frame.ref, verified);
      this.close(closeCauseOf(verified));
      return;
    }
    if (!this.#admit(state, verified)) return;
    const { realm } = this.#host;
    const body = { result: "success", msg: "", user_id: verified.caller.id, realm_name: realm.view.realm.name };
    this.#send(encodeReply(this.format, frame.ref, body));
  }

  #execute(kind: ConnectionFrameType, frame: Frame, userId: number): void {
    switch (kind) {
      case "ping":
        this.#send(encodeReply(this.format, frame.ref, {}, "pong"));
        return;
      case "ack":
        // The client keeps track of its position, and the log prunes itself, so there is nothing to do.
        if (!Number.isSafeInteger(frame.fields["last_event_id"])) {
          this.#reply(frame.ref, refuse.badRequest("last_event_id is not an integer"));
        }
        return;
      case "resume":
        this.#resume(frame, userId);
        return;
      case "authenticate":
        this.#reply(frame.ref, refuse.badRequest("Already authenticated"));
        return;
      default:
        kind satisfies never;
    }
  }

  /** Executes an operation as REST would, and replies with its answer. A register also attaches its queue. */
  #call(frame: Frame, request: SocketRequest, account: Authenticated, size: number): void {
    const user = this.#currentUser(account);
    if (user === null) return;
    const inFlight = this.#host.inFlight.open(this.sender);
    const hasRoom = size <= limits.request_small_bytes_max || inFlight.add(size);
    if (this.#callsPending >= limits.socket_calls_pending_max || !hasRoom) {
      inFlight.release();
      this.#reply(frame.ref, refuse.overloaded());
      return;
    }
    this.#callsPending++;
    const { realm, executor } = this.#host;
    const { operation } = request;
    const call = callOf(realm, this.#visitor, { ...account, caller: user }, request);
    const answer = (result: Result) => {
      const status = result.kind === "refused" ? statusOf(result) : 200;
      executor.requests.count(operation.number, status);
      this.#callsPending--;
      inFlight.release();
      const isSent = this.#answer(frame.ref, this.#encoded(frame.ref, result, call.ignored));
      const answered = result.kind === "ok" ? result.answer : result.kind === "encoded" ? result.values : undefined;
      if (frame.type === "register" && answered !== undefined) this.#follow(user, answered, isSent);
      this.#countRefused(status === 429);
      this.#closeIfDue();
    };
    const result = executor.execute(operation, request.variables, call);
    if (result instanceof Promise) void realm.use.during(result).then(answer);
    else answer(result);
  }

  /** An answer that cannot be encoded is a bug, which is answered alone (M6). */
  #encoded(ref: string | null, result: Result, ignored: readonly string[]): AnswerBody {
    try {
      return encodeAnswer(this.format, ref, result, ignored);
    } catch (error) {
      this.#host.hub.reportBug(error);
      return encodeReply(this.format, ref, bodyOf(refuse.internalError()));
    }
  }

  /** The user's role or status may have changed since the socket was opened. */
  #currentUser({ caller }: Authenticated): UserRecord | null {
    const user = this.#host.realm.view.users.get(caller.id);
    if (user?.isActive === true) return user;
    this.close("deactivated");
    return null;
  }

  #countRefused(isRefused: boolean): void {
    this.#framesRefused = isRefused ? this.#framesRefused + 1 : 0;
    if (this.#framesRefused > limits.socket_refused_frames_max) this.close("rateLimited");
  }

  /** @returns false if the client does not get the answer; a large one without room is replaced by an error */
  #answer(ref: string | null, body: AnswerBody): boolean {
    if (this.#state.kind === "closed") return false;
    const sent = this.#buffered((buffer) => buffer.sendAnswer(body, this.format === "msgpack"));
    if (sent === "full") this.#reply(ref, refuse.overloaded());
    if (sent === "slow") this.close("slowReader");
    return sent === "sent";
  }

  /** After the reply to a register the events follow. */
  #follow(user: UserRecord, answer: Answer, isSent: boolean): void {
    const { queue_id: queueId, last_event_id: lastEventId } = answer as ResultOf<typeof registerQueue>;
    const queue = this.#host.hub.queue(queueId);
    if (queue === undefined) return;
    // If the reply was not sent, the client does not know the queue's id and could never read it.
    if (isSent) this.#attach(queue, lastEventId);
    else this.#host.realm.dispatcher.send(command({ actor: "user", id: user.id }, "queue.delete", { queueId }, null));
  }

  #resume(frame: Frame, userId: number): void {
    const { queue_id: queueId, last_event_id: lastEventId } = frame.fields;
    if (typeof queueId !== "string" || !Number.isSafeInteger(lastEventId)) {
      this.#reply(frame.ref, refuse.badRequest("resume needs queue_id and last_event_id"));
      return;
    }
    const { hub, realm } = this.#host;
    const queue = hub.queue(queueId);
    const after = Math.max(lastEventId as number, (queue?.record.createdAtPosition ?? 0) - 1);
    if (queue === undefined || queue.userId !== userId || isLost(realm, queue, after)) {
      this.#reply(frame.ref, refuse.badEventQueueId(queueId));
      return;
    }
    this.#send(encodeReply(this.format, frame.ref, { result: "success", msg: "", queue_id: queueId }));
    this.#attach(queue, after);
  }

  /** One queue per socket: a previous queue of this socket waits for another reader. */
  #attach(queue: LiveQueue, after: number): void {
    const state = this.#state;
    if (state.kind !== "registering" && state.kind !== "live") return;
    if (state.kind === "live") state.reader.release();
    const { hub } = this.#host;
    const reader = new SocketReader(hub, queue, this, after);
    this.#state = step(sessionLife, state, "attach", { kind: "live", account: state.account, reader });
    queue.attach(reader);
    reader.follow().catch((error: unknown) => {
      hub.reportBug(error);
      reader.failed();
    });
  }

  sendFrameBatch(frameBatch: FrameBatch): void {
    for (const frame of frameBatch.frames) this.#transmit(frame, frameBatch.format === "msgpack");
  }

  sendPassed(frameBatch: FrameBatch): void {
    this.#connection.beginPassed();
    try {
      this.sendFrameBatch(frameBatch);
    } finally {
      this.#connection.endPassed();
    }
  }

  #reply(ref: string | null, refusal: Refusal): void {
    this.#send(encodeReply(this.format, ref, bodyOf(refusal)));
  }

  #send(data: string | Buffer): void {
    this.#transmit(data, typeof data !== "string");
  }

  /** E3: a message that cannot be sent is never dropped silently; the socket is closed, and the client reconnects. */
  #transmit(data: string | Buffer, isBinary: boolean): void {
    if (this.#state.kind === "closed") this.#connection.sendPassed(data, isBinary);
    else if (this.#sendBuffer === null && this.#connection.isClear) {
      const outcome = this.#connection.send(data, isBinary);
      if (outcome === sendStatus.buffered && this.#buffered((buffer) => buffer.account()) === "slow") this.stalled();
    } else if (this.#buffered((buffer) => buffer.send(data, isBinary)) === "slow") this.stalled();
  }

  /** Uses the send buffer, and drops it when nothing waits. */
  #buffered(use: (buffer: SendBuffer) => Sent): Sent {
    const buffer = this.#sendBuffer ?? new SendBuffer(this.#connection, this);
    this.#sendBuffer = buffer;
    const sent = use(buffer);
    if (buffer.isIdle && this.#sendBuffer === buffer) this.#sendBuffer = null;
    return sent;
  }

  /** At a shutdown pending calls are finished first. */
  drain(): void {
    this.closeAfterCalls("goingAway");
  }

  keyEnded(cause: KeyEnd): void {
    this.closeAfterCalls(cause === "realmDeactivated" ? "deactivated" : cause);
  }

  /**
   * Stops reading frames and sending events. Pending calls are still answered: one of them may be the request that
   * closes this connection, and a new key is shown only once.
   */
  closeAfterCalls(cause: CloseCause): void {
    const state = this.#state;
    switch (state.kind) {
      case "connecting":
        this.close(cause);
        return;
      case "registering":
      case "live":
        this.#state = step(sessionLife, state, "drain", { kind: "draining", account: state.account, cause });
        if (state.kind === "live") state.reader.release();
        this.#closeIfDue();
        return;
      case "draining":
      case "closed":
        return;
      default:
        state satisfies never;
    }
  }

  /** Closes once pending calls are answered and all waiting messages were handed to the connection. */
  #closeIfDue(): void {
    const isDue = this.#callsPending === 0 && this.#sendBuffer?.isWaiting !== true;
    if (this.#state.kind === "draining" && isDue) this.close(this.#state.cause);
  }

  /** A user of this hub's realm was deactivated. */
  departed(hub: Hub, userId: number): void {
    if (this.#host.hub !== hub || !("account" in this.#state)) return;
    if (this.#state.account.caller.id === userId) this.closeAfterCalls("deactivated");
  }

  stalled(): void {
    this.close("slowReader");
  }

  dropped(): void {
    this.close("slowReader");
  }

  /** The client has read some bytes. */
  progressed(): void {
    this.#connection.progressed();
    this.drained();
  }

  drained(): void {
    if (this.#state.kind === "closed") return;
    this.#sendBuffer?.drained();
    if (this.#sendBuffer?.isIdle === true) this.#sendBuffer = null;
    this.#closeIfDue();
    if (this.#state.kind === "live") this.#state.reader.drained();
  }

  close(cause: CloseCause): void {
    if (this.#state.kind === "closed") return;
    this.#over();
    const { code, reason } = closeCodes[cause];
    this.#host.closed.add(String(code));
    this.#connection.end(code, reason);
  }

  /** The transport closed the connection; the socket must not be touched any more. */
  closed(): void {
    this.#connection.closed();
    this.#over();
  }

  #over(): void {
    const state = this.#state;
    if (state.kind === "closed") return;
    this.#state = step(sessionLife, state, "close", closed);
    this.#sendBuffer?.close();
    this.#sendBuffer = null;
    if (state.kind === "connecting") {
      this.#noStranger(state);
      return;
    }
    if (state.kind === "live") state.reader.release();
    this.#host.leave(state.account.caller.id);
    this.#host.hub.connectionsByApiKey.remove(state.account.keyHash, this);
  }
}
