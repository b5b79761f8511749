/** The exports of the package in every runtime; node.ts and browser.ts add `connect`. */
export { answerTo, type Place } from "./answer-to.ts";
export type * from "./api/index.ts";
export {
  type CallOptions,
  Client,
  type ClientOptions,
  type Operation,
  type Params,
  type Result,
} from "./client.ts";
export { closeCodes, type NextStep } from "./close-codes.ts";
export { ApiError, ConnectionError, EventGapError, SocketClosedError } from "./errors.ts";
export type { Position } from "./event-source.ts";
export {
  type Event,
  type EventOptions,
  EventStream,
  type EventType,
  type Gap,
  type Interruption,
  type RegisteredState,
} from "./event-stream.ts";
export type { UploadedFile } from "./requests.ts";
export type { WebSocketClass, WebSocketLike } from "./socket.ts";
export { type Access, type Credentials, parseZuliprc, type SessionAccess } from "./zuliprc.ts";
