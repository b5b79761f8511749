/** Settings of the person, channels, groups, organization: loaded when one of them is opened. */
import type { ComponentType } from "preact";
import { hrefOf } from "../navigation.ts";
import { isAdministrator } from "../store.ts";
import { BotPanel } from "./bot-panel.tsx";
import { ChannelPanel } from "./channel-panel.tsx";
import { EmojiPanel } from "./emoji-panel.tsx";
import { FolderPanel } from "./folder-panel.tsx";
import { GroupPanel } from "./group-panel.tsx";
import { InvitationPanel } from "./invitation-panel.tsx";
import { LinkifierPanel } from "./linkifier-panel.tsx";
import { OrganizationPanel, PermissionPanel } from "./organization-panel.tsx";
import { PeoplePanel } from "./people-panel.tsx";
import { NotificationPanel, PreferencePanel } from "./preference-panel.tsx";
import { ProfileFieldPanel } from "./profile-field-panel.tsx";
import { ProfilePanel } from "./profile-panel.tsx";
import { SessionPanel } from "./session-panel.tsx";
import { StatisticsPanel } from "./statistics-panel.tsx";

interface Section {
  readonly name: string;
  readonly label: string;
  readonly Body: ComponentType;
  readonly isForAdministrators?: boolean;
}

const sections: Readonly<Record<"settings" | "organization", readonly Section[]>> = {
  settings: [
    { name: "profile", label: "Profile", Body: ProfilePanel },
    { name: "preferences", label: "Preferences", Body: PreferencePanel },
    { name: "notifications", label: "Notifications", Body: NotificationPanel },
    { name: "sessions", label: "Password and sessions", Body: SessionPanel },
  ],
  organization: [
    { name: "people", label: "People", Body: PeoplePanel },
    { name: "invitations", label: "Invitations", Body: InvitationPanel },
    { name: "emoji", label: "Emoji", Body: EmojiPanel },
    { name: "bots", label: "Bots", Body: BotPanel },
    { name: "general", label: "Organization", Body: OrganizationPanel, isForAdministrators: true },
    { name: "permissions", label: "Permissions", Body: PermissionPanel, isForAdministrators: true },
    { name: "folders", label: "Channel folders", Body: FolderPanel, isForAdministrators: true },
    { name: "profile-fields", label: "Profile fields", Body: ProfileFieldPanel, isForAdministrators: true },
    { name: "linkifiers", label: "Linkifiers", Body: LinkifierPanel, isForAdministrators: true },
    { name: "statistics", label: "Statistics", Body: StatisticsPanel, isForAdministrators: true },
  ],
};

/** On a phone the list is a line that is wider than the screen. */
function showTab(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function Sections({ kind, section }: { readonly kind: "settings" | "organization"; readonly section: string }) {
  const offered = sections[kind].filter((one) => one.isForAdministrators !== true || isAdministrator.value);
  const chosen = offered.find(({ name }) => name === section) ?? offered[0];
  return (
    <div class="panel">
      <nav class="panel-list" aria-label={kind === "settings" ? "Settings" : "Organization"}>
        {offered.map(({ name, label }) => (
          <a
            key={name}
            class={`row ${name === chosen?.name ? "current" : ""}`}
            href={hrefOf({ kind, section: name })}
            aria-current={name === chosen?.name ? "page" : undefined}
            ref={name === chosen?.name ? showTab : null}
          >
            {label}
          </a>
        ))}
      </nav>
      <div class="panel-body">{chosen === undefined ? null : <chosen.Body key={chosen.name} />}</div>
    </div>
  );
}

const titles = { settings: "Settings", channels: "Channels", groups: "Groups", organization: "Organization" } as const;

export function Panels({ kind, section }: { readonly kind: keyof typeof titles; readonly section: string }) {
  return (
    <>
      <header class="head">
        <h1>{titles[kind]}</h1>
      </header>
      {kind === "channels" ? <ChannelPanel section={section} /> : null}
      {kind === "groups" ? <GroupPanel section={section} /> : null}
      {kind === "settings" || kind === "organization" ? <Sections kind={kind} section={section} /> : null}
    </>
  );
}
