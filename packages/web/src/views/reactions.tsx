/** The reactions below a message: pressed ones are the person's own. */
import type { Message } from "../../../client/src/api/index.ts";
import { type EmojiChoice, messageDialog, toggleReaction } from "../actions.ts";
import { characterOf } from "../content.ts";
import { customEmoji, myId, nameOf } from "../store.ts";
import { Icon } from "./icon.tsx";

export function EmojiImage({
  emoji,
}: {
  readonly emoji: Pick<EmojiChoice, "emoji_name" | "emoji_code" | "reaction_type">;
}) {
  if (emoji.reaction_type === "unicode_emoji") return <span class="emoji">{characterOf(emoji.emoji_code)}</span>;
  const custom = customEmoji.value[emoji.emoji_code];
  if (custom === undefined) return <span class="emoji-name">:{emoji.emoji_name}:</span>;
  return <img class="emoji" src={custom.source_url} alt={`:${emoji.emoji_name}:`} />;
}

interface Group extends EmojiChoice {
  readonly userIds: readonly number[];
}

function grouped(message: Message): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const { user_id: userId, ...emoji } of message.reactions) {
    const key = `${emoji.reaction_type} ${emoji.emoji_code}`;
    const known = groups.get(key);
    groups.set(key, { ...(known ?? emoji), userIds: [...(known?.userIds ?? []), userId] });
  }
  return [...groups.values()];
}

const namesMax = 3;

function labelOf({ userIds, emoji_name: name }: Group): string {
  const names = userIds.map((id) => (id === myId.value ? "You" : nameOf(id)));
  const shown = names.length > 20 ? `${names.slice(0, 20).join(", ")} and ${names.length - 20} more` : names.join(", ");
  return `${shown} reacted with :${name}:`;
}

export function Reactions({ message }: { readonly message: Message }) {
  if (message.reactions.length === 0) return null;
  return (
    <fieldset class="reactions" aria-label="Reactions">
      {grouped(message).map((group) => {
        const isMine = group.userIds.includes(myId.value);
        const names = group.userIds.map((id) => (id === myId.value ? "You" : nameOf(id)));
        return (
          <button
            type="button"
            key={`${group.reaction_type} ${group.emoji_code}`}
            class={`reaction ${isMine ? "mine" : ""}`}
            aria-pressed={isMine}
            aria-label={labelOf(group)}
            title={labelOf(group)}
            onClick={() => toggleReaction(message, group)}
          >
            <EmojiImage emoji={group} />
            <span>{names.length <= namesMax ? names.join(", ") : names.length}</span>
          </button>
        );
      })}
      <button
        type="button"
        class="reaction add"
        aria-label="Add a reaction"
        title="Add a reaction"
        onClick={() => {
          messageDialog.value = { kind: "react", message };
        }}
      >
        <Icon name="smile" size={15} />
      </button>
    </fieldset>
  );
}
