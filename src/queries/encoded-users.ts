/**
 * The answer of GET /users as bytes (spec 4.15), cached and shared by all viewers with the same visibility. A list
 * consists of pieces of adjacent ids, and a change re-encodes only its piece. Bounded by `encoded_users_bytes_max`; the
 * least recently used list is evicted first.
 */
import { LRUCache } from "lru-cache";
import { isHiddenFromPeers, uninvolvedViewer, visibilityOf } from "../../domain/people.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type MemberOptions, memberBody } from "./users.ts";

/** Bytes of an answer, and a name for this content that is unique within this process. */
export interface EncodedList {
  readonly body: Buffer;
  readonly name: string;
}

interface Chunk {
  readonly version: number;
  readonly bytes: Buffer;
}

interface Kept {
  readonly version: number;
  /** A piece is empty if no user has its ids. The pieces share the memory of `body`. */
  readonly chunks: readonly Chunk[];
  readonly body: Buffer;
}

const head = Buffer.from('{"result":"success","msg":"","members":[');
const comma = Buffer.from(",");
const tail = Buffer.from("]}");

/** For one realm. */
export class EncodedUsers {
  readonly #view: View;
  readonly #kept: LRUCache<string, Kept>;

  constructor(view: View, bytesMax: number = limits.encoded_users_bytes_max) {
    this.#view = view;
    this.#kept = new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ body }) => body.length });
  }

  list(viewer: UserRecord | null, options: MemberOptions): EncodedList {
    const variant = [visibilityOf(viewer), Number(options.clientGravatar), Number(options.includesProfile)].join(".");
    const kept = this.#upToDate(variant, viewer, options);
    const name = `${variant}.${kept.version}`;
    if (viewer === null || !isHiddenFromPeers(viewer)) return { body: kept.body, name };
    return { body: this.#withOwn(kept, viewer, options), name: `${name}.${viewer.id}` };
  }

  #upToDate(variant: string, viewer: UserRecord | null, options: MemberOptions): Kept {
    const known = this.#kept.get(variant);
    const { peopleVersions } = this.#view;
    if (known !== undefined && known.version === peopleVersions.latest) return known;
    const kept = this.#assemble(viewer === null ? null : uninvolvedViewer(viewer), options, known?.chunks ?? []);
    this.#kept.set(variant, kept);
    return kept;
  }

  #assemble(viewer: UserRecord | null, options: MemberOptions, known: readonly Chunk[]): Kept {
    const { peopleVersions } = this.#view;
    const last = Math.floor(this.#view.counter("user") / limits.encoded_users_per_piece);
    const chunks: Chunk[] = [];
    for (let index = 0; index <= last; index++) {
      const version = peopleVersions.ofChunk(index);
      const before = known[index];
      const isSame = before !== undefined && before.version === version;
      chunks.push(isSame ? before : { version, bytes: this.#encodeChunk(index, viewer, options) });
    }
    return { version: peopleVersions.latest, ...joined(chunks) };
  }

  #encodeChunk(index: number, viewer: UserRecord | null, options: MemberOptions): Buffer {
    const first = index * limits.encoded_users_per_piece;
    const members: string[] = [];
    for (let id = first; id < first + limits.encoded_users_per_piece; id++) {
      const user = this.#view.users.get(id);
      if (user !== undefined) members.push(JSON.stringify(memberBody(this.#view, user, viewer, options)));
    }
    return Buffer.from(members.join(","));
  }

  /** A user's own list contains their own address even if it is hidden from others. */
  #withOwn(kept: Kept, viewer: UserRecord, options: MemberOptions): Buffer {
    const shown = JSON.stringify(memberBody(this.#view, viewer, uninvolvedViewer(viewer), options));
    const own = JSON.stringify(memberBody(this.#view, viewer, viewer, options));
    const chunk = kept.chunks[Math.floor(viewer.id / limits.encoded_users_per_piece)]?.bytes ?? head;
    // Quotes are escaped within strings, so the beginning of an entry occurs nowhere else.
    const at = chunk.byteOffset - kept.body.byteOffset + chunk.indexOf(`{"user_id":${viewer.id},`);
    const rest = kept.body.subarray(at + Buffer.byteLength(shown));
    return Buffer.concat([kept.body.subarray(0, at), Buffer.from(own), rest]);
  }
}

/** Concatenates the pieces and returns them as slices of the result. */
function joined(chunks: readonly Chunk[]): { body: Buffer; chunks: Chunk[] } {
  const parts: Buffer[] = [head];
  for (const { bytes } of chunks) {
    if (bytes.length === 0) continue;
    if (parts.length > 1) parts.push(comma);
    parts.push(bytes);
  }
  const body = Buffer.concat([...parts, tail]);
  let at = head.length;
  const shared = chunks.map(({ version, bytes }) => {
    if (bytes.length === 0) return { version, bytes };
    const start = at === head.length ? at : at + comma.length;
    at = start + bytes.length;
    return { version, bytes: body.subarray(start, at) };
  });
  return { body, chunks: shared };
}

const ofRealms = new WeakMap<View, EncodedUsers>();

/** All users as the viewer sees them; null: a spectator. Only for viewers who may see everybody. */
export function encodedUsers(view: View, viewer: UserRecord | null, options: MemberOptions): EncodedList {
  let own = ofRealms.get(view);
  if (own === undefined) {
    own = new EncodedUsers(view);
    ofRealms.set(view, own);
  }
  return own.list(viewer, options);
}
