/**
 * What the mails say (schemas/mails.ts lists them): one row a mail, one text for both its forms. Each string is an Eta template over
 * the mail's data (`it`); a paragraph that comes out empty is left out. For HTML everything that is filled in is escaped.
 */
import type { MailReason, MailTemplate } from "../../../schemas/mails.ts";

export interface TemplateText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** The address of a link, on a line of its own after the paragraphs. */
  readonly link?: string;
  /** What was written (`it.messages`) stands between the greeting and the paragraphs. */
  readonly quotesMessages?: true;
}

export const greeting = "Hello<% if (it.fullName) { %> <%= it.fullName %><% } %>,";

export const signature = "Sent by <%= it.realmName %>. Nobody reads answers to this mail.";

/** Above each message that is quoted. */
export const quoteHeading = "<%= it.sender %>, <%= it.time %>";

export const tooLong = "(This message is too long for a mail.)";

const reasons: Readonly<Record<MailReason, string>> = {
  direct: "somebody wrote to you directly",
  mention: "somebody mentioned you",
  "group-mention": "somebody mentioned a group that you are in",
  "topic-mention": "somebody mentioned everybody who writes in the topic",
  "channel-mention": "somebody mentioned everybody in the channel",
  "followed-topic": "you follow the topic",
  channel: "you get mails about this channel",
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
      "If this was you, all is well. If it was not, change your password at once and tell an administrator.",
      "You can switch these mails off in your settings.",
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
      "The address of your account on <%= it.realmName %> is to change from <%= it.email %> to <%= it.newEmail %>. To confirm it, follow the link below within 24 hours.",
      "If you did not ask for this, do nothing: your account stays as it is.",
    ],
    link: "<%= it.link %>",
  },
  "address-changed": {
    subject: "The address of your account on <%= it.realmName %> has changed",
    paragraphs: [
      "The address of your account on <%= it.realmName %> is now <%= it.newEmail %>. Use it to log in; this address is no longer connected with the account.",
      "If you did not ask for this, tell an administrator at once.",
    ],
  },
  invitation: {
    subject: "<%= it.inviter %> has invited you to <%= it.realmName %>",
    paragraphs: [
      "<%= it.inviter %> has invited you to join <%= it.realmName %>. To make your account, follow the link below.",
      "<% if (it.time) { %>The link is good until <%= it.time %>.<% } %>",
      "If you do not know what this is about, do nothing.",
    ],
    link: "<%= it.link %>",
  },
  "missed-messages": {
    subject: `${inRealm}${place}`,
    quotesMessages: true,
    paragraphs: [
      "<% if (it.omitted) { %>Older messages of this conversation that you have not read either: <%= it.omitted %>.<% } %>",
      isCut,
      `You get this mail because ${reason}; which messages you get by mail is in your settings. To read on or to answer, follow the link:`,
    ],
    link: "<%= it.site %>/<%= it.path %>",
  },
  "missed-messages-hidden": {
    subject: `${inRealm}New messages`,
    paragraphs: [
      "New messages for you on <%= it.realmName %> that you have not read: <%= it.count %>.",
      isCut,
      '<% if (it.hiddenBy === "organization") { %>The organization does not want mails to say what was written.<% } else { %>You have set that mails do not say what was written.<% } %>',
    ],
    link: "<%= it.site %>/",
  },
};
