/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface RealmDeactivationOperations {
  /** Deactivates the organization: all requests are rejected. Nothing is deleted. Owners only. */
  "POST /realm/deactivate": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: Readonly<Record<never, never>>;
  };
}
