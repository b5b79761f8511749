/** What a channel is to people: to whom it is open, and how its privacy is called (behaviour 2.3, 3.8). */
import type { ChannelRecord, Openness } from "../../schemas/records.ts";

type Privacy = Pick<ChannelRecord, "isPrivate" | "isWebPublic" | "isHistoryPublic">;

export function opennessOf({ isPrivate, isWebPublic }: Privacy): Openness {
  if (isWebPublic) return "web-public";
  return isPrivate ? "private" : "public";
}

/** As the notification bot and clients call it. */
export function privacyName({ isPrivate, isWebPublic, isHistoryPublic }: Privacy): string {
  if (isWebPublic) return "Web-public";
  if (!isPrivate) return "Public";
  return isHistoryPublic ? "Private, shared history" : "Private, protected history";
}
