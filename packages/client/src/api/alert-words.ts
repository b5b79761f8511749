/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface AlertWordsOperations {
  /** Returns the caller's alert words in alphabetical order. */
  "GET /users/me/alert_words": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly alert_words: readonly string[] };
  };
  /** Adds alert words; existing ones are ignored. */
  "POST /users/me/alert_words": {
    readonly params: { readonly alert_words: readonly string[] };
    readonly result: { readonly alert_words: readonly string[] };
  };
  /** Removes alert words; unknown ones are ignored. */
  "DELETE /users/me/alert_words": {
    readonly params: { readonly alert_words: readonly string[] };
    readonly result: { readonly alert_words: readonly string[] };
  };
}

export interface AlertWordsEvents {
  alert_words: { readonly type: "alert_words"; readonly id: number; readonly alert_words: readonly string[] };
}

export interface AlertWordsState {
  readonly alert_words?: readonly string[];
}
