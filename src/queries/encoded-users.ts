/**
 * The answer of GET /users as bytes (spec 4.15), cached and shared by all viewers with the same visibility. A list
 * consists of pieces of adjacent ids, and a change re-encodes only its piece. Bounded by `encoded_users_bytes_max`; the
 * least recently used list is evicted first.
 *
 * The users in the state of POST /register, in the same pieces, which are evicted one by one.
 */
import { LRUCache } from "lru-cache";
import { isHiddenFromPeers, uninvolvedViewer, userBody, visibilityOf } from "../../domain/people.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type ProfileDatumBody, profileData } from "./profile-data.ts";
import type { JsonWriter } from "./state-section.ts";
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

/** Users with ids of one piece, as JSON objects with commas between them. */
interface PeoplePiece {
  readonly version: number;
  readonly active: Buffer;
  readonly inactive: Buffer;
}

/** The records of a piece at one moment: later changes replace records, and do not modify them. */
interface PeopleRecords {
  readonly version: number;
  /** The name under which the piece is kept; null: it is the viewer's own. */
  readonly name: string | null;
  readonly viewer: UserRecord;
  readonly clientGravatar: boolean;
  readonly people: readonly (readonly [UserRecord, Record<string, ProfileDatumBody> | null])[];
}

/** The users of a realm at one moment, encoded when they are written. */
export interface CollectedPeople {
  readonly active: JsonWriter;
  readonly inactive: JsonWriter;
}

/** Pieces of all organizations. @param bytesMax of their JSON in sum */
export function peopleCache(bytesMax: number): LRUCache<string, PeoplePiece> {
  return new LRUCache({
    maxSize: bytesMax,
    sizeCalculation: ({ active, inactive }) => active.length + inactive.length + 1,
  });
}

const people = peopleCache(limits.encoded_people_bytes_max);

const numbers = new WeakMap<View, number>();
let numbersGiven = 0;

/** Names an organization, as long as it is open, in a cache that all organizations share. */
export function numberOf(view: View): number {
  const known = numbers.get(view) ?? ++numbersGiven;
  numbers.set(view, known);
  return known;
}

export class EncodedPeople {
  readonly #view: View;
  readonly #kept: LRUCache<string, PeoplePiece>;

  constructor(view: View, kept = people) {
    this.#view = view;
    this.#kept = kept;
  }

  /** @param viewer may see everybody */
  collect(viewer: UserRecord, clientGravatar: boolean): CollectedPeople {
    const { peopleVersions } = this.#view;
    const last = Math.floor(this.#view.counter("user") / limits.encoded_users_per_piece);
    const own = isHiddenFromPeers(viewer) ? Math.floor(viewer.id / limits.encoded_users_per_piece) : -1;
    const peer = uninvolvedViewer(viewer);
    const variant = `${numberOf(this.#view)}.${visibilityOf(viewer)}.${Number(clientGravatar)}`;
    const pieces: (PeoplePiece | PeopleRecords)[] = [];
    for (let index = 0; index <= last; index++) {
      const version = peopleVersions.ofChunk(index);
      const name = index === own ? null : `${variant}.${index}`;
      const known = name === null ? undefined : this.#kept.get(name);
      if (known?.version === version) pieces.push(known);
      else {
        const people = this.#recordsOf(index);
        pieces.push({ version, name, viewer: name === null ? viewer : peer, clientGravatar, people });
      }
    }
    return { active: this.#writer(pieces, "active"), inactive: this.#writer(pieces, "inactive") };
  }

  #recordsOf(index: number): PeopleRecords["people"] {
    const view = this.#view;
    const first = index * limits.encoded_users_per_piece;
    const people: (readonly [UserRecord, Record<string, ProfileDatumBody> | null])[] = [];
    for (let id = first; id < first + limits.encoded_users_per_piece; id++) {
      const user = view.users.get(id);
      if (user !== undefined) people.push([user, user.botType === null ? profileData(view, user) : null]);
    }
    return people;
  }

  /** The first of the two lists that is written encodes both. */
  #writer(pieces: (PeoplePiece | PeopleRecords)[], list: "active" | "inactive"): JsonWriter {
    const encoded = (piece: PeopleRecords) => this.#encode(piece);
    return function* (parts) {
      let separator = "[";
      for (const [index, collected] of pieces.entries()) {
        const piece = "people" in collected ? encoded(collected) : collected;
        pieces[index] = piece;
        if (piece[list].length > 0) {
          parts.push(separator, piece[list]);
          separator = ",";
        }
        yield piece === collected ? 0 : piece.active.length + piece.inactive.length;
      }
      parts.push(separator === "[" ? "[]" : "]");
    };
  }

  #encode({ version, name, viewer, clientGravatar, people }: PeopleRecords): PeoplePiece {
    const active: string[] = [];
    const inactive: string[] = [];
    for (const [user, profile] of people) {
      // Undefined fields are not encoded: the lists say who is active, and bots have no profile.
      const own = { is_active: undefined, profile_data: profile ?? undefined };
      const body = Object.assign(userBody(user, viewer, clientGravatar), own);
      (user.isActive ? active : inactive).push(JSON.stringify(body));
    }
    const piece = { version, active: Buffer.from(active.join(",")), inactive: Buffer.from(inactive.join(",")) };
    // Another reader may have encoded a later version meanwhile.
    if (name !== null && (this.#kept.peek(name)?.version ?? -1) < version) this.#kept.set(name, piece);
    return piece;
  }
}
