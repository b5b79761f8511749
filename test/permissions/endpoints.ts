/**
 * Who may do what, operation by operation, said a second time: a table that shares nothing with the declarations. An operation
 * that is not in it makes the test fail. What is decided later, by permissions of channels, groups and the organization, is the
 * matrix of model.ts and the areas' own tests.
 */

/** Everybody there is, weakest first. */
export const callers = [
  "nobody",
  "deactivated",
  "webhook bot",
  "guest",
  "bot",
  "member",
  "moderator",
  "administrator",
  "owner",
] as const;
export type Caller = (typeof callers)[number];

/** The groups of people to whom an operation listens; the others are refused whatever they send. */
const members: readonly Caller[] = ["member", "moderator", "administrator", "owner"];
const administrators: readonly Caller[] = ["administrator", "owner"];
const accounts: readonly Caller[] = ["guest", "bot", ...members];
export const audiences = {
  everybody: callers,
  /** Credentials that are sent must be good. */
  spectators: ["nobody", ...accounts],
  accounts,
  senders: ["webhook bot", ...accounts],
  humans: ["guest", ...members],
  "members and bots": ["bot", ...members],
  members,
  administrators,
} as const satisfies Record<string, readonly Caller[]>;
export type Audience = keyof typeof audiences;

const table: Readonly<Record<Audience, string>> = {
  everybody: "get-server-settings fetch-api-key dev-fetch-api-key",
  spectators: "get-users get-file-temporary-url get-messages get-message get-stream-topics",
  senders: "send-message",
  humans: `add-apns-token remove-apns-token add-fcm-token remove-fcm-token test-notify e2ee-test-notify register-push-device
    register-client-device remove-client-device update-settings update-display-settings update-notification-settings deactivate-own-user update-status
    update-own-profile-data remove-own-profile-data update-presence`,
  "members and bots": "create-channel",
  members: `get-bot-api-key create-bot get-bots update-bot deactivate-bot regenerate-bot-api-key create-invite-link send-invites get-invites
    revoke-email-invite revoke-invite-link edit-invite-link resend-email-invite create-user-group get-user-groups update-user-group
    deactivate-user-group get-user-group-members get-is-user-group-member update-user-group-members get-user-group-subgroups
    update-user-group-subgroups`,
  administrators: `create-user update-realm-user-settings-defaults update-realm create-custom-profile-field
    reorder-custom-profile-fields update-custom-profile-field delete-custom-profile-field add-linkifier update-linkifier
    remove-linkifier reorder-linkifiers add-code-playground remove-code-playground delete-topic create-channel-folder
    patch-channel-folders update-channel-folder add-default-stream remove-default-stream get-usage
    test-welcome-bot-custom-message
    upload-realm-icon delete-realm-icon upload-realm-logo delete-realm-logo`,
  accounts: `deactivate-realm get-stream-email-address create-big-blue-button-video-call get-user-channels
    get-realm-domains create-realm-domain update-realm-domain delete-realm-domain get-realm-icon get-realm-logo update-bot-storage get-bot-storage remove-bot-storage regenerate-own-api-key get-own-user get-user get-user-by-email update-user update-user-by-email deactivate-user
    reactivate-user update-status-for-user get-user-status get-navigation-views add-navigation-view edit-navigation-view
    remove-navigation-view get-saved-snippets create-saved-snippet edit-saved-snippet delete-saved-snippet get-drafts
    create-drafts edit-draft delete-draft get-scheduled-messages create-scheduled-message update-scheduled-message
    delete-scheduled-message get-reminders create-message-reminder delete-reminder get-alert-words add-alert-words
    remove-alert-words mute-user unmute-user upload-file get-attachments remove-attachment upload-avatar delete-avatar
    upload-custom-emoji get-custom-emoji deactivate-custom-emoji get-custom-profile-fields get-linkifiers get-streams
    get-stream-by-id get-stream-id update-stream archive-stream get-channel-folders get-subscriptions subscribe unsubscribe
    update-subscriptions update-subscription-settings get-subscribers get-subscription-status update-user-topic mute-topic
    render-message check-messages-match-narrow update-message delete-message report-message get-message-history add-reaction
    remove-reaction add-submessage update-message-flags update-message-flags-for-narrow mark-all-as-read mark-stream-as-read
    mark-topic-as-read get-read-receipts set-typing-status set-typing-status-for-message-edit get-presence get-user-presence
    register-queue get-events delete-queue service-outgoing-webhook`,
};

/** Each operation's audience, by operationId. */
export const audienceOf: ReadonlyMap<string, Audience> = new Map(
  Object.entries(table).flatMap(([audience, ids]) => ids.split(/\s+/).map((id) => [id, audience as Audience] as const)),
);

type Parameters = Readonly<Record<string, unknown>>;

/** What administrators alone may do, decided in the turn: a request that nothing but the role can stop. Paths are below /api/v1. */
export interface DecidedLater {
  readonly operationId: string;
  readonly method: "POST" | "PATCH" | "DELETE";
  /** `{other}`: an account of somebody else's; `{gone}`: one that is deactivated; `{channel}`: one that the caller is not in. */
  readonly path: string;
  readonly params: Parameters;
}

export const decidedLater: readonly DecidedLater[] = [
  { operationId: "update-user", method: "PATCH", path: "/users/{other}", params: { full_name: "Renamed" } },
  { operationId: "update-user-by-email", method: "PATCH", path: "/users/{email}", params: { full_name: "Again" } },
  { operationId: "deactivate-user", method: "DELETE", path: "/users/{other}", params: {} },
  { operationId: "reactivate-user", method: "POST", path: "/users/{gone}/reactivate", params: {} },
  {
    operationId: "update-status-for-user",
    method: "POST",
    path: "/users/{other}/status",
    params: { status_text: "x" },
  },
  { operationId: "update-stream", method: "PATCH", path: "/streams/{channel}", params: { description: "changed" } },
  { operationId: "archive-stream", method: "DELETE", path: "/streams/{channel}", params: {} },
];

/** What an owner alone may do. */
export const ownersOnly: readonly DecidedLater[] = [
  { operationId: "update-user", method: "PATCH", path: "/users/{other}", params: { role: 100 } },
  { operationId: "deactivate-user", method: "DELETE", path: "/users/{owner}", params: {} },
  {
    operationId: "create-realm-domain",
    method: "POST",
    path: "/realm/domains",
    params: { domain: "example.org", allow_subdomains: false },
  },
];
