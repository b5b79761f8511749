/**
 * The texts of emails (schemas/mails.ts lists them): one entry per email, one text for both formats. Each string is an
 * Eta template over the email's data (`it`); empty paragraphs are left out. In HTML all values are escaped.
 */
import type { MailReason, MailTemplate } from "../../../schemas/mails.ts";

export interface TemplateText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** The URL of a link, on its own line after the paragraphs. */
  readonly link?: string;
  /** The quoted messages (`it.messages`) are placed between the greeting and the paragraphs. */
  readonly quotesMessages?: true;
}

export const greeting = "Hello<% if (it.fullName) { %> <%= it.fullName %><% } %>,";

export const signature = "Sent by <%= it.realmName %>. Nobody reads answers to this email.";

/** Below the signature, with a link. */
export const unsubscribeText = "Unsubscribe from emails like this";

/** The line above each quoted message. */
export const quoteHeading = "<%= it.sender %>, <%= it.time %>";

export const tooLong = "(This message is too long for an email.)";

const reasons: Readonly<Record<MailReason, string>> = {
  direct: "somebody wrote to you directly",
  mention: "somebody mentioned you",
  "group-mention": "somebody mentioned a group that you are in",
  "topic-mention": "somebody mentioned everybody who writes in the topic",
  "channel-mention": "somebody mentioned everybody in the channel",
  "followed-topic": "you follow the topic",
  channel: "you get emails about this channel",
};
const reason = Object.entries(reasons)
  .map(([name, text]) => `<% if (it.reason === "${name}") { %>${text}<% } %>`)
  .join("");

const inRealm = "<% if (it.namesRealm) { %>[<%= it.realmName %>] <% } %>";
const place =
  '<% const at = it.conversation; if (at.kind === "channel") { %>' +
  "<% if (at.isResolved) { %>[resolved] <% } %>#<%= at.channel %> > <%= at.topic %>" +
  "<% } else { %>Direct messages with <%= at.names.join(', ') %><% if (at.others) { %> and <%= at.others %> more<% } %><% } %>";
const isCut = "<% if (it.isCut) { %>There are older messages that are not counted here.<% } %>";

export const templates: Readonly<Record<MailTemplate, TemplateText>> = {
  "new-login": {
    subject: "New login to <%= it.realmName %> from <%= it.client %>",
    paragraphs: [
      "Somebody has just logged in to your account <%= it.email %> on <%= it.realmName %>, with a program or from a place that was not used before.",
      "Time: <%= it.time %>\nProgram: <%= it.client %>\nAddress: <%= it.address %>",
      "If this was you, you need not do anything. If it was not, change your password at once and tell an administrator.",
    ],
  },
  "account-deactivated": {
    subject: "Your account on <%= it.realmName %> has been deactivated",
    paragraphs: [
      "Your account on <%= it.realmName %> has been deactivated. You can no longer log in.",
      "<% if (it.comment) { %>The administrators left this comment:<% } %>",
      "<%= it.comment %>",
    ],
  },
  "confirm-new-address": {
    subject: "Confirm your new address on <%= it.realmName %>",
    paragraphs: [
      "The address of your account on <%= it.realmName %> is to change from <%= it.email %> to <%= it.newEmail %>. To confirm it, follow the link below within 24 hours and press the button.",
      "If you did not ask for this, do nothing: your account will not change.",
    ],
    link: "<%= it.link %>",
  },
  "address-changed": {
    subject: "The address of your account on <%= it.realmName %> has changed",
    paragraphs: [
      "The address of your account on <%= it.realmName %> is now <%= it.newEmail %>. Use it to log in; the old address is no longer valid for the account.",
      "If you did not ask for this, tell an administrator at once.",
    ],
  },
  "password-reset": {
    subject: "Set a new password on <%= it.realmName %>",
    paragraphs: [
      "Somebody has asked for a new password for your account <%= it.email %> on <%= it.realmName %>. To set one, follow the link below within 24 hours. It works once.",
      "If you did not ask for this, do nothing: your password will not change. Give the link to nobody.",
    ],
    link: "<%= it.link %>",
  },
  "password-changed": {
    subject: "Your password on <%= it.realmName %> has been changed",
    paragraphs: [
      "A new password was set for your account <%= it.email %> on <%= it.realmName %>, with a link that was made for it. All devices were logged out.",
      "If this was not you, tell an administrator at once.",
    ],
  },
  invitation: {
    subject: "<%= it.inviter %> has invited you to <%= it.realmName %>",
    paragraphs: [
      "<%= it.inviter %> has invited you to join <%= it.realmName %>. To create your account, follow the link below.",
      "<% if (it.time) { %>The link is good until <%= it.time %>.<% } %>",
      "If you did not expect this invitation, ignore this email.",
    ],
    link: "<%= it.link %>",
  },
  "missed-messages": {
    subject: `${inRealm}${place}`,
    quotesMessages: true,
    paragraphs: [
      "<% if (it.omitted) { %>Older messages of this conversation that you have not read either: <%= it.omitted %>.<% } %>",
      isCut,
      `You get this email because ${reason}; which messages you get by email is in your settings. To read on or to answer, follow the link:`,
    ],
    link: "<%= it.site %>/<%= it.path %>",
  },
  "missed-messages-hidden": {
    subject: `${inRealm}New messages`,
    paragraphs: [
      "New messages for you on <%= it.realmName %> that you have not read: <%= it.count %>.",
      isCut,
      '<% if (it.hiddenBy === "organization") { %>The organization does not want emails to say what was written.<% } else { %>You have set that emails do not say what was written.<% } %>',
    ],
    link: "<%= it.site %>/",
  },
};
