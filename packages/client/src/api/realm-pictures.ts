/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface RealmPicturesOperations {
  /** Sets the organization's icon: one file in a multipart body, decoded and re-encoded as a square. */
  "POST /realm/icon": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly icon_url: string };
  };
  /** Removes the organization's icon; the generated one is used again. */
  "DELETE /realm/icon": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly icon_url: string };
  };
  /** Redirects to the organization's icon. */
  "GET /realm/icon": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: Readonly<Record<never, never>>;
  };
  /** Sets the organization's logo for light themes, or for dark themes (`night`). */
  "POST /realm/logo": {
    readonly params: { readonly night: boolean };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Removes the organization's logo for light themes, or for dark themes (`night`). */
  "DELETE /realm/logo": {
    readonly params: { readonly night: boolean };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Redirects to the organization's logo for light themes, or for dark themes (`night`). */
  "GET /realm/logo": {
    readonly params: { readonly night: boolean };
    readonly result: Readonly<Record<never, never>>;
  };
}
