/** GET /server_settings. */
import { getServerSettings } from "../../../schemas/server.ts";
import { serverSettings } from "../../queries/server-state.ts";
import { ok } from "../../runtime/results.ts";
import { bind } from "../calls.ts";

export const serverRoutes = [bind(getServerSettings, ({ realm, siteUrl }) => ok(serverSettings(realm.view, siteUrl)))];
