/**
 * Every area of the server, in one list. An area declares its operations, commands, tables, events, counters and
 * limits in its own file; the router, the store, `limits`, the log and the types of rows and commands are derived from
 * this list.
 */

import { alertWordsArea } from "./alert-words.ts";
import type { AllOf, Commands } from "./area.ts";
import { attachmentsArea } from "./attachments.ts";
import { authenticationArea } from "./authentication.ts";
import { avatarsArea } from "./avatars.ts";
import { botStorageArea } from "./bot-storage.ts";
import { botsArea } from "./bots.ts";
import { channelFoldersArea } from "./channel-folders.ts";
import { channelsArea } from "./channels.ts";
import { deadLettersArea } from "./dead-letters.ts";
import { defaultChannelsArea } from "./default-channels.ts";
import { draftsArea } from "./drafts.ts";
import { emailChangeArea } from "./email-change.ts";
import { emojiArea } from "./emoji.ts";
import { invitesArea } from "./invites.ts";
import { linkifiersArea } from "./linkifiers.ts";
import { mailsArea } from "./mails.ts";
import { messageChangesArea } from "./message-changes.ts";
import { messageFlagsArea } from "./message-flags.ts";
import { messageReportsArea } from "./message-reports.ts";
import { messagesArea } from "./messages.ts";
import { missedMessagesArea } from "./missed-messages.ts";
import { mutedUsersArea } from "./muted-users.ts";
import { navigationViewsArea } from "./navigation-views.ts";
import { passwordResetArea } from "./password-reset.ts";
import type { PersonalList } from "./personal-list.ts";
import { playgroundsArea } from "./playgrounds.ts";
import { presenceArea } from "./presence.ts";
import { profileFieldsArea } from "./profile-fields.ts";
import { pushDevicesArea } from "./push-devices.ts";
import { queuesArea } from "./queues.ts";
import { reactionsArea } from "./reactions.ts";
import { readStateArea } from "./read-state.ts";
import { realmDeactivationArea } from "./realm-deactivation.ts";
import { realmDomainsArea } from "./realm-domains.ts";
import { realmPicturesArea } from "./realm-pictures.ts";
import { realmSettingsArea } from "./realm-settings.ts";
import { remindersArea } from "./reminders.ts";
import { retentionArea } from "./retention.ts";
import { savedSnippetsArea } from "./saved-snippets.ts";
import { scheduledMessagesArea } from "./scheduled-messages.ts";
import { searchArea } from "./search.ts";
import { serverArea } from "./server.ts";
import { sessionsArea } from "./sessions.ts";
import { settingsArea } from "./settings.ts";
import { setupArea } from "./setup.ts";
import { statusArea } from "./status.ts";
import { submessagesArea } from "./submessages.ts";
import { subscriptionsArea } from "./subscriptions.ts";
import { unsubscribesArea } from "./unsubscribes.ts";
import { usageArea } from "./usage.ts";
import { userGroupsArea } from "./user-groups.ts";
import { userTopicsArea } from "./user-topics.ts";
import { usersArea } from "./users.ts";
import { webhooksArea } from "./webhooks.ts";
import { welcomeTestsArea } from "./welcome-tests.ts";

const areasByName = {
  alertWordsArea,
  attachmentsArea,
  authenticationArea,
  avatarsArea,
  botStorageArea,
  botsArea,
  channelFoldersArea,
  channelsArea,
  deadLettersArea,
  defaultChannelsArea,
  draftsArea,
  emailChangeArea,
  emojiArea,
  invitesArea,
  linkifiersArea,
  mailsArea,
  messageChangesArea,
  messageFlagsArea,
  messageReportsArea,
  messagesArea,
  missedMessagesArea,
  mutedUsersArea,
  navigationViewsArea,
  passwordResetArea,
  playgroundsArea,
  presenceArea,
  profileFieldsArea,
  pushDevicesArea,
  queuesArea,
  reactionsArea,
  readStateArea,
  realmDeactivationArea,
  realmDomainsArea,
  realmPicturesArea,
  realmSettingsArea,
  remindersArea,
  retentionArea,
  savedSnippetsArea,
  scheduledMessagesArea,
  searchArea,
  serverArea,
  sessionsArea,
  settingsArea,
  setupArea,
  statusArea,
  submessagesArea,
  subscriptionsArea,
  unsubscribesArea,
  usageArea,
  userGroupsArea,
  userTopicsArea,
  usersArea,
  webhooksArea,
  welcomeTestsArea,
};
export type Area = (typeof areasByName)[keyof typeof areasByName];
export const areas: readonly Area[] = Object.values(areasByName);

/** The lists of a person that are derived from their declarations. */
export const personalLists: readonly PersonalList[] = areas.flatMap((area) => ("list" in area ? [area.list] : []));

/** The areas with their names in words, such as "saved snippets". */
export const namedAreas: readonly (readonly [name: string, area: Area])[] = Object.entries(areasByName).map(
  ([name, area]) => [inWords(name), area],
);

function inWords(name: string): string {
  return name.replace(/Area$/, "").replaceAll(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
}

type CommandsOf<A> = A extends { readonly commands: Commands<infer Params, infer Replies> }
  ? { readonly params: Params; readonly replies: Replies }
  : never;

/**
 * The parameters of all commands, by type; `actors/protocol/decision.ts` adds one that contains commands. Interfaces,
 * so that the compiler resolves them once.
 */
export interface AreaCommands extends AllOf<CommandsOf<Area>, "params"> {}

/** Those of the lists in `personalLists`. */
export type PersonalListCommands = AllOf<CommandsOf<Extract<Area, { readonly list: PersonalList }>>, "params">;

/** The replies to commands, by type: nearly always the answer of the operation that sends the command. */
export interface AreaReplies extends AllOf<CommandsOf<Area>, "replies"> {}
