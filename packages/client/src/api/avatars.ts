/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface AvatarsOperations {
  /** Sets the caller's avatar: one file in a multipart body, decoded and re-encoded. */
  "POST /users/me/avatar": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly avatar_url: string };
  };
  /** Removes the caller's avatar; the one derived from the email address is used again. */
  "DELETE /users/me/avatar": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly avatar_url: string };
  };
}
