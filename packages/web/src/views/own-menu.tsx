/** The person's own menu. */
import { client } from "../api.ts";
import { connect, disconnect } from "../connection.ts";
import { go } from "../navigation.ts";
import { attempt, complain } from "../notices.ts";
import { logOut } from "../session.ts";
import { chat, isAdministrator, me, myId, settings } from "../store.ts";
import { isHelpOpen, openPerson } from "./opened.ts";
import { Menu } from "./parts.tsx";

/** 1 follows the system, 2 is dark, 3 is light. */
const nextScheme = { 1: 2, 2: 3, 3: 1 } as const;
const schemeNames = { 1: "Theme: as the system", 2: "Theme: dark", 3: "Theme: light" } as const;

type Change = Parameters<typeof client.call<"PATCH /settings">>[1];

const save = (change: Change) =>
  attempt("The setting was not saved", () => client.call("PATCH /settings", change ?? {}));

export const changeSendKey = () => save({ enter_sends: settings.peek()?.enter_sends !== true });

export function OwnMenu({ onClose }: { readonly onClose: () => void }) {
  const scheme = settings.value?.color_scheme ?? 1;
  const isShown = settings.value?.presence_enabled !== false;
  const leave = async () => {
    try {
      // The session must not end before the queue is deleted.
      await disconnect()?.[Symbol.asyncIterator]().return();
      await logOut();
      chat.value = null;
    } catch (error) {
      complain("You were not logged out", error);
      connect().catch(() => undefined);
    }
  };
  return (
    <Menu
      label="Account"
      onClose={onClose}
      items={[
        { label: me.value?.full_name ?? "You", run: () => openPerson(myId.peek()) },
        { label: "Settings", run: () => go({ kind: "settings", section: "profile" }) },
        { label: "Channels", run: () => go({ kind: "channels", section: "" }) },
        { label: "Groups", run: () => go({ kind: "groups", section: "" }) },
        {
          label: isAdministrator.value ? "Organization" : "Organization and people",
          run: () => go({ kind: "organization", section: "people" }),
        },
        { label: schemeNames[scheme], run: () => save({ color_scheme: nextScheme[scheme] }) },
        {
          label: isShown ? "Go invisible" : "Show that I am here",
          run: () => save({ presence_enabled: !isShown }),
        },
        {
          label: "Keyboard shortcuts",
          keys: "?",
          run: () => {
            isHelpOpen.value = true;
          },
        },
        { label: "Log out", run: leave },
      ]}
    />
  );
}
