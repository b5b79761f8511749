/**
 * The messages of a link, which carries the sockets of an edge's clients to their owner (docs/adr/0013-edges.md). Each is
 * one binary WebSocket message: a byte for its kind, then its fields in big-endian order. A change of the messages
 * needs a new version, which both nodes have to speak.
 */

/** The subprotocol of the link's handshake. A node offers all versions that it speaks, the newest first. */
export const linkVersions = ["colloquy-link-1"] as const;
export const linkPath = "/api/v1/events/link";

/** A part of a WebSocket message to a client. */
export const parts = ["whole", "first", "middle", "last"] as const;
export type Part = (typeof parts)[number];

export interface Form {
  readonly part: Part;
  readonly isBinary: boolean;
}

/** Payloads that several messages deliver are remembered under so many numbers in turn; `notKept` has none. */
export const slots = 8;
export const notKept = 255;

export interface OpenRequest {
  /** With the query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

export interface SocketRefusal {
  readonly status: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** How much of what was sent to a client has left the edge, modulo 2^32. */
export interface ClientProgress {
  readonly id: number;
  readonly takenBytes: number;
  /** Some of it waits for the client. */
  readonly isBehind: boolean;
}

/** `id` names a client's socket on this link, and is never used again. */
export type LinkMessage =
  // From the edge to the owner:
  | { readonly kind: "open"; readonly id: number; readonly request: OpenRequest }
  | { readonly kind: "frame"; readonly id: number; readonly isBinary: boolean; readonly bytes: Uint8Array }
  /** The client is gone. */
  | { readonly kind: "gone"; readonly id: number }
  /** So many bytes of the link were handled, modulo 2^32. It is sent at least once in `forward_link_beat_ms`. */
  | { readonly kind: "progress"; readonly handledBytes: number; readonly clients: readonly ClientProgress[] }
  // From the owner to the edge:
  | { readonly kind: "elsewhere"; readonly id: number }
  | { readonly kind: "refused"; readonly id: number; readonly refusal: SocketRefusal }
  | { readonly kind: "accepted"; readonly id: number; readonly protocol: string }
  | { readonly kind: "end"; readonly id: number; readonly code: number; readonly reason: string }
  /** A new payload for these clients. */
  | {
      readonly kind: "payload";
      readonly form: Form;
      readonly slot: number;
      readonly ids: readonly number[];
      readonly payload: Buffer;
    }
  /** The payload of a slot for further clients. */
  | { readonly kind: "again"; readonly form: Form; readonly slot: number; readonly ids: readonly number[] }
  | { readonly kind: "beat" };

const kinds = [
  "open",
  "frame",
  "gone",
  "progress",
  "elsewhere",
  "refused",
  "accepted",
  "end",
  "payload",
  "again",
  "beat",
] as const satisfies readonly LinkMessage["kind"][];

/** Bytes of a delivery before the ids of its clients: kind, form, slot, count. */
const deliveryHeadBytes = 5;
const clientProgressBytes = 9;

export function encodeLinkMessage(message: LinkMessage): Buffer {
  switch (message.kind) {
    case "open":
      return withId(message, Buffer.from(JSON.stringify(message.request)));
    case "frame":
      return withId(message, Buffer.from([message.isBinary ? 1 : 0]), message.bytes);
    case "gone":
    case "elsewhere":
      return withId(message);
    case "progress":
      return encodeProgress(message.handledBytes, message.clients);
    case "refused":
      return withId(message, Buffer.from(JSON.stringify(message.refusal)));
    case "accepted":
      return withId(message, Buffer.from(message.protocol));
    case "end":
      return withId(message, Buffer.from([message.code >> 8, message.code & 255]), Buffer.from(message.reason));
    case "payload":
      return Buffer.concat([encodeDelivery(message), message.payload]);
    case "again":
      return encodeDelivery(message);
    case "beat":
      return Buffer.from([kinds.indexOf("beat")]);
    default:
      return message satisfies never;
  }
}

function withId({ kind, id }: { readonly kind: LinkMessage["kind"]; readonly id: number }, ...rest: Uint8Array[]) {
  const head = Buffer.allocUnsafe(5);
  head[0] = kinds.indexOf(kind);
  head.writeUInt32BE(id, 1);
  return rest.length === 0 ? head : Buffer.concat([head, ...rest]);
}

function encodeProgress(handledBytes: number, clients: readonly ClientProgress[]): Buffer {
  const bytes = Buffer.allocUnsafe(5 + clientProgressBytes * clients.length);
  bytes[0] = kinds.indexOf("progress");
  let at = bytes.writeUInt32BE(handledBytes, 1);
  for (const { id, takenBytes, isBehind } of clients) {
    at = bytes.writeUInt32BE(id, at);
    at = bytes.writeUInt32BE(takenBytes, at);
    at = bytes.writeUInt8(isBehind ? 1 : 0, at);
  }
  return bytes;
}

interface Delivery {
  readonly kind: "payload" | "again";
  readonly form: Form;
  readonly slot: number;
  readonly ids: readonly number[];
}

/** A delivery without its payload. */
function encodeDelivery({ kind, form, slot, ids }: Delivery): Buffer {
  const bytes = Buffer.allocUnsafe(deliveryHeadBytes + 4 * ids.length);
  bytes[0] = kinds.indexOf(kind);
  bytes[1] = parts.indexOf(form.part) + (form.isBinary ? parts.length : 0);
  bytes[2] = slot;
  let at = bytes.writeUInt16BE(ids.length, 3);
  for (const id of ids) at = bytes.writeUInt32BE(id, at);
  return bytes;
}

/** @throws an error if the bytes are no message of a link */
export function decodeLinkMessage(bytes: Buffer): LinkMessage {
  const kind = kinds[bytes.readUInt8(0)];
  switch (kind) {
    case "open":
      return { kind, id: idOf(bytes), request: JSON.parse(bytes.toString("utf8", 5)) as OpenRequest };
    case "frame":
      return { kind, id: idOf(bytes), isBinary: bytes.readUInt8(5) === 1, bytes: bytes.subarray(6) };
    case "gone":
    case "elsewhere":
      return { kind, id: idOf(bytes) };
    case "progress":
      return { kind, handledBytes: bytes.readUInt32BE(1), clients: decodeClients(bytes) };
    case "refused":
      return { kind, id: idOf(bytes), refusal: JSON.parse(bytes.toString("utf8", 5)) as SocketRefusal };
    case "accepted":
      return { kind, id: idOf(bytes), protocol: bytes.toString("utf8", 5) };
    case "end":
      return { kind, id: idOf(bytes), code: bytes.readUInt16BE(5), reason: bytes.toString("utf8", 7) };
    case "payload":
      return { ...decodeDelivery(bytes), kind, payload: bytes.subarray(endOfIds(bytes)) };
    case "again":
      return { ...decodeDelivery(bytes), kind };
    case "beat":
      return { kind };
    default:
      throw new Error("A message of a link has an unknown kind");
  }
}

function idOf(bytes: Buffer): number {
  return bytes.readUInt32BE(1);
}

function decodeClients(bytes: Buffer): ClientProgress[] {
  const clients: ClientProgress[] = [];
  for (let at = 5; at < bytes.length; at += clientProgressBytes) {
    const [id, takenBytes] = [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
    clients.push({ id, takenBytes, isBehind: bytes.readUInt8(at + 8) === 1 });
  }
  return clients;
}

function endOfIds(bytes: Buffer): number {
  return deliveryHeadBytes + 4 * bytes.readUInt16BE(3);
}

function decodeDelivery(bytes: Buffer): Omit<Delivery, "kind"> {
  const form = bytes.readUInt8(1);
  const ids: number[] = [];
  for (let at = deliveryHeadBytes; at < endOfIds(bytes); at += 4) ids.push(bytes.readUInt32BE(at));
  return {
    form: { part: parts[form % parts.length] ?? "whole", isBinary: form >= parts.length },
    slot: bytes.readUInt8(2),
    ids,
  };
}
