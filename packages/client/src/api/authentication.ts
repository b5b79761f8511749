/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface AuthenticationOperations {
  /** Creates an API key for the user with the given address and password. The key is shown only once (S2). */
  "POST /fetch_api_key": {
    readonly params: { readonly username: string; readonly password: string };
    readonly result: { readonly api_key: string; readonly email: string; readonly user_id: number };
  };
  /** Creates an API key for any user without a password; only with DEVELOPMENT_LOGINS. */
  "POST /dev_fetch_api_key": {
    readonly params: { readonly username: string };
    readonly result: { readonly api_key: string; readonly email: string; readonly user_id: number };
  };
  /** Creates a new API key, shown only once. All previous keys become invalid at once and their sockets are closed. */
  "POST /users/me/api_key/regenerate": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly api_key: string };
  };
}
