/**
 * One WebSocket connection (realtime.md): waits for its credentials, then carries frames to the same operations as REST and
 * events the other way. Frames are answered with their `ref`; an unknown or wrong one is answered, the connection stays.
 */
import { command } from "../../actors/commands.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { lookUp } from "../domain/look-up.ts";
import type { Authenticated, Performed } from "../runtime/calls.ts";
import { bodyOf } from "../runtime/entry.ts";
import type { Bundle } from "./bundle.ts";
import { type CloseCause, closeCodes } from "./close-codes.ts";
import type { Hub } from "./hub.ts";
import type { KeyEnd, KeyHolder } from "./key-holders.ts";
import { Outbox } from "./outbox.ts";
import type { LiveQueue } from "./queue.ts";
import { isLost } from "./replay.ts";
import { decodeFrame, encodeReply, type Format, type Frame } from "./socket-frames.ts";
import type { Connection, SocketHost, Visitor } from "./socket-host.ts";
import { type Operation, readOperation } from "./socket-operations.ts";
import { type Outlet, SocketReader } from "./socket-reader.ts";
import type { Stranger } from "./strangers.ts";

/** Frames in a row that are refused for too many requests before the connection is ended. */
const refusedFrames_max = 100;

/** Why credentials are refused decides whether coming back can help. */
const closeCauses: Readonly<Record<string, CloseCause>> = {
  USER_DEACTIVATED: "deactivated",
  REALM_DEACTIVATED: "deactivated",
  RATE_LIMIT_HIT: "rateLimited",
};

/** Names a session's timer. */
let sessions = 0;

export class SocketSession implements KeyHolder, Outlet, Stranger {
  readonly #connection: Connection;
  readonly #host: SocketHost;
  readonly #visitor: Visitor;
  #user: UserRecord | null = null;
  /** Hash of the key that let it in; "" before. */
  #keyHash = "";
  #reader: SocketReader | null = null;
  #isOpen = true;
  #callsPending = 0;
  #framesRefused = 0;
  /** Why it closes when the calls in flight are answered; null: it does not. */
  #closing: CloseCause | null = null;
  readonly #outbox: Outbox;
  /** Name of the timer that waits for credentials; null: it never had to be set. */
  #timer: string | null = null;

  constructor(connection: Connection, host: SocketHost, visitor: Visitor) {
    this.#connection = connection;
    this.#host = host;
    this.#visitor = visitor;
    this.#outbox = new Outbox({
      connection,
      unsent: host.unsent,
      who: () => this.#sender(),
      onStalled: () => this.close("slowReader"),
      wheel: host.realm.dispatcher.wheel,
    });
  }

  /** @param credentials who the upgrade's header said it is; null: the first frame will say */
  start(credentials: Authenticated | null): void {
    if (credentials === null) this.#awaitCredentials();
    else this.#admit(credentials);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get format(): Format {
    return this.#visitor.format;
  }

  bufferedBytes(): number {
    return this.#isOpen ? this.#outbox.bufferedBytes : 0;
  }

  get userId(): number | null {
    return this.#user?.id ?? null;
  }

  /** Whose share of memory this connection takes. */
  #sender(): string {
    return this.#user === null ? this.#visitor.address : `${this.#host.realm.epoch}:${this.#user.id}`;
  }

  giveWay(): void {
    this.close("firstFrameLate");
  }

  #awaitCredentials(): void {
    this.#host.strangers.add(this, this.#visitor.address);
    sessions++;
    this.#timer = `socket:${sessions}`;
    this.#host.realm.dispatcher.wheel.set(this.#timer, limits.socket_authentication_ms_max, () =>
      this.close("firstFrameLate"),
    );
  }

  #admit({ caller, keyHash }: Authenticated): boolean {
    if (!this.#host.admit(caller.id)) {
      this.close("rateLimited");
      return false;
    }
    this.#user = caller;
    this.#keyHash = keyHash;
    this.#host.hub.keyHolders.add(keyHash, this);
    this.#host.strangers.remove(this);
    this.#stopTimer();
    return true;
  }

  #stopTimer(): void {
    if (this.#timer !== null) this.#host.realm.dispatcher.wheel.cancel(this.#timer);
    this.#timer = null;
  }

  /** A frame arrived. The bytes are valid only now. */
  receive(bytes: Uint8Array, isBinary: boolean): void {
    if (!this.#isOpen || this.#closing !== null) return;
    const user = this.#user;
    const bytesMax = user === null ? limits.ws_first_frame_bytes_max : limits.ws_frame_bytes_max;
    if (bytes.byteLength > bytesMax) {
      this.#reply(null, refuse.badRequest(`${user === null ? "The first" : "A"} frame has at most ${bytesMax} bytes`));
      this.close("frameTooLarge");
      return;
    }
    const decoded = decodeFrame(this.format, bytes, isBinary);
    if ("refusal" in decoded) {
      const limited = user === null ? null : this.#limit(user.id);
      this.#reply(decoded.ref, limited ?? decoded.refusal);
      if (user === null) this.close("malformed");
      return;
    }
    const { frame } = decoded;
    if (user === null) {
      this.#authenticate(frame);
      return;
    }
    const operation = readOperation(frame);
    // The performer counts operations itself.
    const limited = operation?.kind === "operation" ? null : this.#limit(user.id);
    if (limited !== null) this.#reply(frame.ref, limited);
    else if (operation === null) this.#carryOut(frame, user);
    else if (operation.kind === "operation") this.#call(frame, operation, bytes.byteLength);
    else this.#reply(frame.ref, operation);
  }

  #limit(userId: number): Refusal | null {
    const limited = this.#host.limitFrame(userId);
    this.#countRefused(limited !== null);
    return limited;
  }

  #authenticate(frame: Frame): void {
    const { email, api_key: key } = frame.fields;
    if (frame.type !== "authenticate" || typeof email !== "string" || typeof key !== "string") {
      this.#reply(frame.ref, refuse.notLoggedIn());
      this.close("notAuthenticated");
      return;
    }
    const verified = this.#host.verify({ email, key }, this.#visitor.address);
    if (!("caller" in verified)) {
      this.#reply(frame.ref, verified);
      this.close(lookUp(closeCauses, verified.code) ?? "notAuthenticated");
      return;
    }
    if (!this.#admit(verified)) return;
    const { realm } = this.#host;
    const body = { result: "success", msg: "", user_id: verified.caller.id, realm_name: realm.view.realm.name };
    this.#send(encodeReply(this.format, frame.ref, JSON.stringify(body)));
  }

  #carryOut(frame: Frame, user: UserRecord): void {
    switch (frame.type) {
      case "ping":
        this.#send(encodeReply(this.format, frame.ref, "{}", "pong"));
        return;
      case "ack":
        // Positions are the client's to know; the log prunes itself.
        if (!Number.isSafeInteger(frame.fields["last_event_id"])) {
          this.#reply(frame.ref, refuse.badRequest("last_event_id is not an integer"));
        }
        return;
      case "resume":
        this.#resume(frame, user);
        return;
      case "authenticate":
        this.#reply(frame.ref, refuse.badRequest("Already authenticated"));
        return;
      default:
        this.#reply(frame.ref, refuse.badRequest(`Unknown frame type '${frame.type.slice(0, 60)}'`));
    }
  }

  /** Runs an operation as REST would, and replies with its answer. A register also attaches its queue. */
  #call(frame: Frame, operation: Operation, size: number): void {
    const user = this.#currentUser();
    if (user === null) return;
    const inFlight = this.#host.inFlight.open(this.#sender());
    const hasRoom = size <= limits.request_small_bytes_max || inFlight.add(size);
    if (this.#callsPending >= limits.socket_calls_pending_max || !hasRoom) {
      inFlight.release();
      this.#reply(frame.ref, refuse.overloaded());
      return;
    }
    this.#callsPending++;
    const { realm, perform } = this.#host;
    const { client, siteUrl, userAgent, address } = this.#visitor;
    const performed = perform({
      realm,
      method: operation.method,
      path: operation.path,
      readParams: () => ({ values: operation.params, files: [] }),
      hasCredentials: true,
      credentials: { caller: user, keyHash: this.#keyHash },
      client,
      siteUrl,
      userAgent,
      address: () => address,
      idempotencyKey: operation.idempotencyKey,
      ifNoneMatch: "",
      onAbort: () => undefined,
    });
    const answer = (result: Performed) => {
      this.#callsPending--;
      inFlight.release();
      const body = Array.isArray(result.body) ? result.body.join("") : String(result.body);
      const isSent = this.#answer(frame.ref, encodeReply(this.format, frame.ref, body));
      if (frame.type === "register" && result.status === 200) this.#follow(user, body, isSent);
      this.#countRefused(result.status === 429);
      this.#closeIfDue();
    };
    if (performed instanceof Promise) void performed.then(answer);
    else answer(performed);
  }

  /** Roles and deactivation may have changed since the socket was opened. */
  #currentUser(): UserRecord | null {
    const user = this.#host.realm.view.users.get(this.#user?.id ?? 0);
    if (user?.isActive === true) return user;
    this.close("deactivated");
    return null;
  }

  #countRefused(isRefused: boolean): void {
    this.#framesRefused = isRefused ? this.#framesRefused + 1 : 0;
    if (this.#framesRefused > refusedFrames_max) this.close("rateLimited");
  }

  /** @returns false when the client does not get it: where there is no room for a large one, it is refused instead */
  #answer(ref: string | null, data: string | Buffer): boolean {
    if (!this.#isOpen) return false;
    const sent = this.#outbox.sendAnswer(data, typeof data !== "string");
    if (sent === "full") this.#reply(ref, refuse.overloaded());
    if (sent === "slow") this.close("slowReader");
    return sent === "sent";
  }

  /** After the reply to a register come the events. */
  #follow(user: UserRecord, body: string, isSent: boolean): void {
    const { queue_id: queueId, last_event_id: lastEventId } = JSON.parse(body) as {
      queue_id: string;
      last_event_id: number;
    };
    const queue = this.#host.hub.queue(queueId);
    if (queue === undefined) return;
    if (isSent) {
      this.#attach(queue, lastEventId);
      return;
    }
    // Nobody will ever read it: the client does not know its id.
    const end = command({ actor: "user", id: user.id }, "queue.delete", { queueId }, null);
    this.#host.realm.dispatcher.tell(end);
  }

  #resume(frame: Frame, user: UserRecord): void {
    const { queue_id: queueId, last_event_id: lastEventId } = frame.fields;
    if (typeof queueId !== "string" || !Number.isSafeInteger(lastEventId)) {
      this.#reply(frame.ref, refuse.badRequest("resume needs queue_id and last_event_id"));
      return;
    }
    const { hub, realm } = this.#host;
    const queue = hub.queue(queueId);
    const after = Math.max(lastEventId as number, (queue?.record.createdAtPosition ?? 0) - 1);
    if (queue === undefined || queue.userId !== user.id || isLost(realm, queue, after)) {
      this.#reply(frame.ref, refuse.badEventQueueId(queueId));
      return;
    }
    this.#send(encodeReply(this.format, frame.ref, JSON.stringify({ result: "success", msg: "", queue_id: queueId })));
    this.#attach(queue, after);
  }

  /** One queue per socket: an earlier one of this socket waits for another reader. */
  #attach(queue: LiveQueue, after: number): void {
    if (!this.#isOpen || this.#closing !== null) return;
    this.#reader?.release();
    const { reader: former } = queue;
    const reader = new SocketReader(this.#host.hub, queue, this);
    queue.reader = reader;
    if (former.kind === "socket") former.takenOver();
    if (former.kind === "poll") former.replace();
    this.#reader = reader;
    reader.follow(after).catch((error: unknown) => {
      this.#host.hub.reportBug(error);
      reader.failed();
    });
  }

  sendBundle(bundle: Bundle): void {
    for (const frame of bundle.frames) this.#transmit(frame, bundle.format === "msgpack");
  }

  #reply(ref: string | null, refusal: Refusal): void {
    this.#send(encodeReply(this.format, ref, JSON.stringify(bodyOf(refusal))));
  }

  #send(data: string | Buffer): void {
    this.#transmit(data, typeof data !== "string");
  }

  /** E3: what cannot be sent is never dropped in silence; the client is told to come back. */
  #transmit(data: string | Buffer, isBinary: boolean): void {
    if (this.#isOpen && this.#outbox.send(data, isBinary) === "slow") this.close("slowReader");
  }

  /** Shutdown: calls in flight are finished first. */
  drain(): void {
    this.closeAfterCalls("goingAway");
  }

  keyEnded(cause: KeyEnd): void {
    this.closeAfterCalls(cause === "realmDeactivated" ? "deactivated" : cause);
  }

  /**
   * Nothing more is heard or told. What was asked before is answered: it may be the very request that ends the connection, and
   * the answer with a new key is given once.
   */
  closeAfterCalls(cause: CloseCause): void {
    if (!this.#isOpen) return;
    this.#closing ??= cause;
    this.#reader?.release();
    this.#reader = null;
    this.#closeIfDue();
  }

  /** What was asked is answered, and what was answered has been taken, as far as it was not handed over at once. */
  #closeIfDue(): void {
    if (this.#closing !== null && this.#callsPending === 0 && !this.#outbox.isWaiting) this.close(this.#closing);
  }

  /** Somebody of the hub's realm was deactivated. */
  departed(hub: Hub, userId: number): void {
    if (this.#host.hub === hub && this.#user?.id === userId) this.closeAfterCalls("deactivated");
  }

  drained(): void {
    if (!this.#isOpen) return;
    this.#outbox.drained();
    this.#closeIfDue();
    this.#reader?.drained();
  }

  close(cause: CloseCause): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#leave();
    const { code, reason } = closeCodes[cause];
    this.#connection.end(code, reason);
  }

  /** uWS says that the connection is gone: nothing of it may be touched any more. */
  closed(): void {
    this.#isOpen = false;
    this.#leave();
  }

  #leave(): void {
    this.#stopTimer();
    this.#outbox.close();
    this.#host.strangers.remove(this);
    this.#reader?.release();
    this.#reader = null;
    if (this.#user !== null) {
      this.#host.leave(this.#user.id);
      this.#host.hub.keyHolders.remove(this.#keyHash, this);
    }
    this.#user = null;
  }
}
