/**
 * URLs under which anyone can get one file for a short time (public API: get-file-temporary-url): the file's id and an
 * expiry time, signed. The key is generated per process and not stored, so after a restart a client must request
 * another URL.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { AttachmentRecord } from "../../../schemas/attachments.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Realm } from "../../runtime/realm.ts";

export const temporaryPrefix = "temporary/";

const shape = /^temporary\/(\d{1,15})-(\d{1,15})-([A-Za-z0-9_-]{43})\/[^/]+$/;

export class TemporaryUrls {
  readonly #key = randomBytes(32);

  /** @returns the part of the URL after `uploadsPath` */
  make(realm: Realm, { id, pathName }: AttachmentRecord): string {
    const until = realm.view.now + limits.temporary_url_ms;
    const signature = this.#sign(realm, id, until).toString("base64url");
    return `${temporaryPrefix}${id}-${until}-${signature}/${encodeURIComponent(pathName)}`;
  }

  /** The file that a path below `uploadsPath` gives access to now, or undefined. */
  open(realm: Realm, path: string): AttachmentRecord | undefined {
    const [, id, until, signature = ""] = shape.exec(path) ?? [];
    const shown = Buffer.from(signature, "base64url");
    const expected = this.#sign(realm, Number(id), Number(until));
    if (shown.length !== expected.length || !timingSafeEqual(shown, expected)) return undefined;
    return realm.view.now > Number(until) ? undefined : realm.view.row("attachments", Number(id));
  }

  #sign({ epoch }: Realm, id: number, until: number): Buffer {
    return createHmac("sha256", this.#key).update(`${epoch} ${id} ${until}`).digest();
  }
}
