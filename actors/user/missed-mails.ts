/**
 * Builds the data of missed-message emails, one per conversation (schemas/mails.ts), without content where the settings
 * forbid it.
 */

import type { MessageInConversation } from "../../domain/mail-reasons.ts";
import { directPath, messagePath } from "../../domain/markdown/resolve.ts";
import { resolvedPrefix } from "../../domain/message-rules.ts";
import { unknownName } from "../../domain/people.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import { type Redactor, redactor } from "../../domain/redaction.ts";
import { shownTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import { type MailData, type MailReason, mailReasons } from "../../schemas/mails.ts";
import type { ConversationRecord } from "../../schemas/messages.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { NewMail } from "../rules/mail.ts";

export interface Missed extends MessageInConversation {
  readonly conversation: ConversationRecord;
  readonly reason: MailReason;
}

interface Mails {
  readonly mails: readonly NewMail[];
  /** Ids of messages that exceed the number of emails allowed now. */
  readonly laterIds: readonly number[];
}

type Direct = Extract<MailData<"missed-messages">["conversation"], { kind: "direct" }>;

/**
 * Conversations are ordered by their oldest missed message.
 * @param missed ascending
 */
export function missedMails(
  view: View,
  user: UserRecord,
  missed: readonly Missed[],
  { room, isCut }: { readonly room: number; readonly isCut: boolean },
): Mails {
  const namesRealm = userSetting(user, "realm_name_in_email_notifications_policy") === alwaysNamed;
  const hiddenBy = contentHiddenBy(view, user);
  if (hiddenBy !== null) {
    // Without content, the emails would differ only in their counts, so one email is sent for all conversations.
    const data = { count: missed.length, isCut, namesRealm, hiddenBy, ...aboutMessages(user, missed) };
    const mail = { template: "missed-messages-hidden", to: user, data } as const;
    const isSent = missed.length > 0 && room > 0;
    return { mails: isSent ? [mail] : [], laterIds: isSent ? [] : missed.map(({ message }) => message.id) };
  }
  const writer = new MailWriter(view, user, namesRealm, isCut);
  const conversations = byConversation(missed);
  const later = conversations.slice(room).flat();
  return {
    mails: conversations.slice(0, room).map((one) => writer.write(one)),
    laterIds: later.map(({ message }) => message.id).sort((a, b) => a - b),
  };
}

function aboutMessages(user: UserRecord, missed: readonly Missed[]) {
  return { userId: user.id, messageIds: missed.map(({ message }) => message.id) };
}

function byConversation(missed: readonly Missed[]): Missed[][] {
  const found = new Map<number, Missed[]>();
  for (const one of missed) {
    const others = found.get(one.conversation.id);
    if (others === undefined) found.set(one.conversation.id, [one]);
    else others.push(one);
  }
  return [...found.values()];
}

/**
 * There is no link between a user's accounts in several organizations, so "automatic" is treated as off; emails are
 * signed with the organization's name anyway.
 */
const alwaysNamed = 2;

function contentHiddenBy(view: View, user: UserRecord): "person" | "organization" | null {
  if (!realmSetting(view, "message_content_allowed_in_email_notifications")) return "organization";
  return userSetting(user, "message_content_in_email_notifications") ? null : "person";
}

class MailWriter {
  readonly #view: View;
  readonly #user: UserRecord;
  readonly #namesRealm: boolean;
  readonly #isCut: boolean;
  /** null: the user may see everybody. */
  readonly #redactor: Redactor | null;

  constructor(view: View, user: UserRecord, namesRealm: boolean, isCut: boolean) {
    this.#view = view;
    this.#user = user;
    this.#namesRealm = namesRealm;
    this.#isCut = isCut;
    this.#redactor = redactor(view, user);
  }

  /** @param missed messages of one conversation, ascending, at least one */
  write(missed: readonly Missed[]): NewMail {
    const shown = missed.slice(-limits.missed_messages_per_mail_max);
    const [first] = missed as readonly [Missed];
    let room: number = limits.missed_mail_characters_max;
    const messages = shown.map(({ message }) => {
      const html = this.#redactor?.rendered(message.rendered) ?? message.rendered;
      const fits = html.length <= room;
      if (fits) room -= html.length;
      return { sender: this.#nameOf(message.senderId), sentAt: message.sentAt, html: fits ? html : null };
    });
    const data = {
      ...this.#place(first),
      reason: strongest(missed),
      namesRealm: this.#namesRealm,
      timezone: this.#user.timezone,
      messages,
      omitted: missed.length - shown.length,
      isCut: this.#isCut,
      ...aboutMessages(this.#user, shown),
    };
    return { template: "missed-messages", to: this.#user, data };
  }

  /** The conversation, and a link to its first unread message. */
  #place({ message, channelId, topic, userIds }: Missed) {
    if (userIds !== null) {
      const otherIds = userIds.filter((id) => id !== this.#user.id);
      const names = otherIds.slice(0, limits.missed_mail_names_max).map((id) => this.#nameOf(id));
      const conversation: Direct = { kind: "direct", names, others: otherIds.length - names.length };
      return { conversation, path: `${directPath(otherIds)}/near/${message.id}` };
    }
    const channel = this.#view.channels.get(channelId ?? 0) ?? { id: channelId ?? 0, name: "" };
    const isResolved = topic.startsWith(resolvedPrefix);
    const name = shownTopic(this.#view, isResolved ? topic.slice(resolvedPrefix.length) : topic, false);
    return {
      conversation: { kind: "channel", channel: channel.name, topic: name, isResolved } as const,
      path: messagePath(channel, topic, message.id),
    };
  }

  /** Hides the names of users that the recipient may not see (S1). */
  #nameOf(id: number): string {
    if (this.#redactor?.isHidden(id) === true) return unknownName;
    return this.#view.users.get(id)?.fullName ?? unknownName;
  }
}

/** The strongest reason in the order of the list; an email names only one. */
function strongest(missed: readonly Missed[]): MailReason {
  const found = new Set(missed.map(({ reason }) => reason));
  return mailReasons.find((reason) => found.has(reason)) ?? "channel";
}
