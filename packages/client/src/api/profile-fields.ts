/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { ProfileDataElement, ProfileField } from "./types.ts";
export interface ProfileFieldsOperations {
  /** Returns the organization's custom profile fields in their order. */
  "GET /realm/profile_fields": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly custom_fields: readonly ProfileField[] };
  };
  /** Adds a custom profile field; organization administrators only. */
  "POST /realm/profile_fields": {
    readonly params: {
      readonly name?: string;
      readonly hint?: string;
      readonly field_type: number;
      readonly field_data?: Readonly<Record<never, never>>;
      readonly display_in_profile_summary?: boolean;
      readonly required?: boolean;
      readonly editable_by_user?: boolean;
    };
    readonly result: { readonly id: number };
  };
  /** Reorders the custom profile fields; each one must be named. */
  "PATCH /realm/profile_fields": {
    readonly params: { readonly order: readonly number[] };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Changes a custom profile field. Values that are no longer a choice of a list are removed. */
  "PATCH /realm/profile_fields/{field_id}": {
    readonly params: {
      readonly field_id: number;
      readonly name?: string;
      readonly hint?: string;
      readonly field_data?: Readonly<Record<never, never>>;
      readonly display_in_profile_summary?: boolean;
      readonly required?: boolean;
      readonly editable_by_user?: boolean;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Removes a custom profile field and all users' values for it. */
  "DELETE /realm/profile_fields/{field_id}": {
    readonly params: { readonly field_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Sets the caller's values for custom profile fields, atomically. */
  "PATCH /users/me/profile_data": {
    readonly params: { readonly data: readonly ProfileDataElement[] };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Removes the caller's values for the given custom profile fields. */
  "DELETE /users/me/profile_data": {
    readonly params: { readonly data: readonly number[] };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface ProfileFieldsState {
  readonly custom_profile_fields?: readonly ProfileField[];
  readonly custom_profile_field_types?: Readonly<Record<string, { readonly id: number; readonly name: string }>>;
}
