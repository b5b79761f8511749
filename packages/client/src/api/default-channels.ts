/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface DefaultChannelsOperations {
  /** Makes a channel a default channel for new users; organization administrators only. */
  "POST /default_streams": {
    readonly params: { readonly stream_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Removes a channel from the default channels for new users; organization administrators only. */
  "DELETE /default_streams": {
    readonly params: { readonly stream_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface DefaultChannelsState {
  readonly realm_default_streams?: readonly number[];
}
