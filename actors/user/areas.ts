/** The decisions that each area adds to the user actor, by type of command. */
import { personalLists } from "../../schemas/areas.ts";
import { alertWordsDecisions } from "./alert-words.ts";
import { attachmentsDecisions } from "./attachments.ts";
import { avatarsDecisions } from "./avatars.ts";
import { botStorageDecisions } from "./bot-storage.ts";
import { draftsDecisions } from "./drafts.ts";
import { emailChangeDecisions } from "./email-change.ts";
import { messageFlagsDecisions } from "./message-flags.ts";
import { missedMessagesDecisions } from "./missed-messages.ts";
import { mutedUsersDecisions } from "./muted-users.ts";
import { navigationViewsRules } from "./navigation-views.ts";
import { type ListRules, listDecisions } from "./personal-lists.ts";
import { pushDevicesDecisions } from "./push-devices.ts";
import { queuesDecisions } from "./queues.ts";
import { readAnnouncementsDecisions } from "./read-announcements.ts";
import { readStateDecisions } from "./read-state.ts";
import { remindersDecisions } from "./reminders.ts";
import { scheduledMessagesDecisions } from "./scheduled-messages.ts";
import { apiKeysDecisions, sessionsDecisions } from "./sessions.ts";
import { settingsDecisions } from "./settings.ts";
import { statusDecisions } from "./status.ts";
import { subscriptionSettingsDecisions } from "./subscription-settings.ts";
import { unsubscribesDecisions } from "./unsubscribes.ts";
import { userTopicsDecisions } from "./user-topics.ts";

/** The rules of lists that have some of their own, by table. */
const listRules: Readonly<Record<string, ListRules>> = { navigationViews: navigationViewsRules };

export const userAreas = [
  ...personalLists.map((list) => listDecisions(list, listRules[list.table])),
  alertWordsDecisions,
  apiKeysDecisions,
  attachmentsDecisions,
  avatarsDecisions,
  botStorageDecisions,
  draftsDecisions,
  emailChangeDecisions,
  messageFlagsDecisions,
  missedMessagesDecisions,
  mutedUsersDecisions,
  pushDevicesDecisions,
  queuesDecisions,
  readAnnouncementsDecisions,
  readStateDecisions,
  remindersDecisions,
  scheduledMessagesDecisions,
  sessionsDecisions,
  settingsDecisions,
  statusDecisions,
  subscriptionSettingsDecisions,
  unsubscribesDecisions,
  userTopicsDecisions,
] as const;
