/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { Attachment } from "./types.ts";
export interface AttachmentsOperations {
  /** Uploads one file, which is streamed to disk. A link in a message makes it visible to readers of the message. */
  "POST /user_uploads": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly url: string; readonly uri: string; readonly filename: string };
  };
  /** Returns a URL that gives anybody access to the file for one minute. */
  "GET /user_uploads/{realm_id_str}/{filename*}": {
    readonly params: { readonly realm_id_str: number; readonly filename: string };
    readonly result: { readonly url: string };
  };
  /** Returns the caller's files, and the total size of all files in the organization. */
  "GET /attachments": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly attachments: readonly Attachment[]; readonly upload_space_used: number };
  };
  /** Permanently deletes one of the caller's files; links to it stop working. */
  "DELETE /attachments/{attachment_id}": {
    readonly params: { readonly attachment_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
}
