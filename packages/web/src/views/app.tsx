/** The whole page: log in, or the three columns with what is open over them. */
import type { ComponentType } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { channelKey, directKey } from "../../../client/src/state/index.ts";
import { messageDialog } from "../actions.ts";
import { isOutdated } from "../build-watch.ts";
import { ComposeBox } from "../compose/compose-box.tsx";
import { destinationOf, isComposeOpen, openCompose } from "../compose/compose-state.ts";
import { reconnect } from "../connection.ts";
import { returnFocus } from "../focus.ts";
import { shortcuts } from "../keyboard.ts";
import { hrefOf, visit } from "../navigation.ts";
import { dropNotice, notices } from "../notices.ts";
import { resumeList } from "../positions.ts";
import { serverNow } from "../server-clock.ts";
import { session } from "../session.ts";
import { channelOf, inbox, isConversation, type Place } from "../state/narrow.ts";
import { channels, chat, connection, minute, myId, nameOf, place, typists } from "../store.ts";
import { FeedHead } from "./conversation-head.tsx";
import { Feed } from "./feed.tsx";
import { Icon } from "./icon.tsx";
import { Inbox, RecentConversations } from "./inbox.tsx";
import { Drafts, ImageViewer, KeyboardHelp, MessageDialogs, PersonCard, ScheduledMessages } from "./lazy-views.ts";
import { isLeftOpen, LeftBar } from "./left-bar.tsx";
import { LiveRegion } from "./live-region.tsx";
import { isHelpOpen, openedImage, openedPerson } from "./opened.ts";
import { IconButton, lazy } from "./parts.tsx";
import { RightBar, Veil } from "./right-bar.tsx";
import { TopBar } from "./top-bar.tsx";

const Login = lazy<{ readonly notice: string | null }>(async () => (await import("./login.tsx")).Login);
const Panels = lazy<{ readonly kind: "settings" | "channels" | "groups" | "organization"; readonly section: string }>(
  async () => (await import("../settings/panels.tsx")).Panels,
);

function Typing() {
  const now = place.value;
  const to = destinationOf(now);
  if (to === null || now.kind !== "narrow" || !isConversation(now.terms)) return null;
  const key =
    to.kind === "topic" ? channelKey(to.channelId, to.topic) : directKey(to.userIds.filter((id) => id !== myId.value));
  const time = Math.max(minute.value, serverNow());
  const names = [...(typists.value.get(key) ?? [])].filter(([, until]) => until > time).map(([id]) => nameOf(id));
  const text =
    names.length === 0
      ? ""
      : names.length > 3
        ? "Several people are typing"
        : `${names.join(" and ")} ${names.length === 1 ? "is" : "are"} typing`;
  return (
    <p class="typing" aria-live="off">
      {text}
    </p>
  );
}

const pages: Readonly<Record<"inbox" | "recent" | "drafts" | "scheduled", ComponentType>> = {
  inbox: Inbox,
  recent: RecentConversations,
  drafts: Drafts,
  scheduled: ScheduledMessages,
};

/** Where no conversation is open. */
function Compose() {
  if (isComposeOpen.value) return <ComposeBox />;
  return (
    <div class="compose-start">
      <button type="button" onClick={() => openCompose()}>
        <Icon name="draft" size={16} /> Write a message <kbd>c</kbd>
      </button>
    </div>
  );
}

/** Of a link to a channel that does not exist any more, or that this person may not see. */
function UnknownChannel() {
  return (
    <>
      <header class="head">
        <h1>Unknown channel</h1>
      </header>
      <p class="empty">
        This channel does not exist, or you have no access to it. <a href={hrefOf(inbox)}>Go to the inbox</a>
      </p>
    </>
  );
}

function Middle({ now }: { readonly now: Place }) {
  useLayoutEffect(resumeList, [visit.value]);
  if (now.kind === "narrow") {
    const channelId = channelOf(now.terms);
    if (channelId !== null && !channels.value.has(channelId)) return <UnknownChannel />;
    const isWritable = isConversation(now.terms) || (now.terms.length === 1 && destinationOf(now) !== null);
    return (
      <>
        <FeedHead target={now} />
        <Feed key={visit.value} target={now} />
        <Typing />
        {isWritable ? <ComposeBox /> : <Compose />}
      </>
    );
  }
  if ("section" in now) return <Panels key={now.kind} kind={now.kind} section={now.section} />;
  const Page = pages[now.kind];
  return (
    <>
      <Page />
      <Compose />
    </>
  );
}

function Outdated() {
  return (
    <>
      <span>The server has another version of this page. What you are writing stays when you reload it.</span>
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </>
  );
}

function ConnectionBar() {
  const { state } = connection.value;
  if (state === "offline") {
    return (
      <div class="connection" role="status">
        <span>No connection. You can read what is here; nothing is sent until the server is back.</span>
        <button type="button" onClick={reconnect}>
          Try now
        </button>
      </div>
    );
  }
  return state === "refused" || isOutdated.value ? (
    <div class="connection" role="status">
      <Outdated />
    </div>
  ) : null;
}

function Notices() {
  return (
    <div class="notices" role="status">
      {notices.value.map(({ id, text, isProblem, action }) => (
        <p key={id} class={`notice ${isProblem ? "problem" : ""}`}>
          {text}
          {action === null ? null : (
            <button
              type="button"
              onClick={() => {
                dropNotice(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <IconButton
            icon="close"
            label="Dismiss"
            onClick={() => {
              dropNotice(id);
              returnFocus();
            }}
          />
        </p>
      ))}
    </div>
  );
}

export function App() {
  const { value } = session;
  if (value.state === "unknown") return null;
  if (value.state === "out") return <Login notice={value.notice} />;
  if (chat.value === null) {
    return <main class="starting">{connection.value.state === "refused" ? <Outdated /> : "Connecting"}</main>;
  }
  return (
    <div class="app">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the messages
      </button>
      <TopBar />
      <ConnectionBar />
      <div class="columns">
        <LeftBar />
        {isLeftOpen.value ? <Veil /> : null}
        <main class="middle" id="main" tabIndex={-1}>
          <Middle now={place.value} />
        </main>
        {"section" in place.value ? null : <RightBar />}
      </div>
      <Notices />
      <LiveRegion />
      {messageDialog.value === null ? null : <MessageDialogs />}
      {openedPerson.value === null ? null : <PersonCard />}
      {openedImage.value === null ? null : <ImageViewer />}
      {isHelpOpen.value ? <KeyboardHelp shortcuts={shortcuts} /> : null}
    </div>
  );
}
