/**
 * What the mails say (schemas/mails.ts lists them): one row a mail, one text for both its forms. Each string is an Eta template over
 * the mail's data (`it`); a paragraph that comes out empty is left out. For HTML everything that is filled in is escaped.
 */
import type { MailTemplate } from "../../../schemas/mails.ts";

export interface TemplateText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** The address of a link, on a line of its own after the paragraphs. */
  readonly link?: string;
}

export const greeting = "Hello<% if (it.fullName) { %> <%= it.fullName %><% } %>,";

export const signature = "Sent by <%= it.realmName %>. Nobody reads answers to this mail.";

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
};
