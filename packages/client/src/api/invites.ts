/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { Invite } from "./types.ts";
export interface InvitesOperations {
  /** Creates a reusable invitation link (spec 4.14); only for members of `create_multiuse_invite_group`. */
  "POST /invites/multiuse": {
    readonly params: {
      readonly invite_expires_in_minutes?: number | null;
      readonly invite_as?: 100 | 200 | 300 | 400 | 600;
      readonly group_ids?: readonly number[];
      readonly include_realm_default_subscriptions?: boolean;
      readonly welcome_message_custom_text?: string;
      readonly stream_ids?: readonly number[];
    };
    readonly result: { readonly invite_link: string };
  };
  /** Invites addresses by email, atomically; only for members of `can_invite_users_group`. */
  "POST /invites": {
    readonly params: {
      readonly invitee_emails: string;
      readonly invite_expires_in_minutes?: number | null;
      readonly invite_as?: 100 | 200 | 300 | 400 | 600;
      readonly group_ids?: readonly number[];
      readonly include_realm_default_subscriptions?: boolean;
      readonly welcome_message_custom_text?: string;
      readonly stream_ids?: readonly number[];
      readonly notify_referrer_on_join?: boolean;
    };
    readonly result: { readonly server_sends_email: boolean };
  };
  /** Returns the valid invitations that the caller may manage. */
  "GET /invites": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly invites: readonly Invite[] };
  };
  /** Revokes an invitation for an address; only for its creator and administrators. */
  "DELETE /invites/{invite_id}": {
    readonly params: { readonly invite_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Revokes a reusable link; only for its creator and administrators. */
  "DELETE /invites/multiuse/{invite_id}": {
    readonly params: { readonly invite_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Changes what a reusable link grants and when it expires; only for its creator and administrators. */
  "PATCH /invites/multiuse/{invite_id}": {
    readonly params: {
      readonly invite_id: number;
      readonly invite_expires_in_minutes?: number | null;
      readonly invite_as?: 100 | 200 | 300 | 400 | 600;
      readonly stream_ids?: readonly number[];
      readonly group_ids?: readonly number[];
      readonly include_realm_default_subscriptions?: boolean;
      readonly welcome_message_custom_text?: string;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Resends the email of an invitation; only for its creator and administrators. */
  "POST /invites/{invite_id}/resend": {
    readonly params: { readonly invite_id: number };
    readonly result: { readonly server_sends_email: boolean };
  };
}

export interface InvitesEvents {
  invites_changed: { readonly type: "invites_changed"; readonly id: number };
}
