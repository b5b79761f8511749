/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface BotStorageOperations {
  /** Stores texts under the caller's keys. Existing keys are overwritten. */
  "PUT /bot_storage": {
    readonly params: { readonly storage: Readonly<Record<string, string>> };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns the caller's entries with the given keys; without keys, all entries. */
  "GET /bot_storage": {
    readonly params: { readonly keys?: readonly string[] };
    readonly result: { readonly storage: Readonly<Record<string, string>> };
  };
  /** Removes the caller's entries with the given keys; without keys, all entries. */
  "DELETE /bot_storage": {
    readonly params: { readonly keys?: readonly string[] };
    readonly result: Readonly<Record<never, never>>;
  };
}
