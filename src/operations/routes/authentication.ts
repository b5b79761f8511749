/** POST /fetch_api_key (behaviour 11): each call creates a new key, which is shown only once (S2). */
import { command } from "../../../actors/protocol/decision.ts";
import { fetchApiKey, fetchApiKeyInDevelopment, regenerateApiKey } from "../../../schemas/authentication.ts";
import { isRefusal, refuse } from "../../../schemas/errors.ts";
import { ok } from "../../runtime/results.ts";
import { bind, requireCaller } from "../calls.ts";
import { hashApiKey } from "../identity/authentication.ts";
import { type LoginTools, verifyLogin } from "../identity/password-login.ts";
import { newSecret } from "../identity/secrets.ts";
import { loginFrom } from "../identity/sessions.ts";

/** @param isDevelopment gives out keys without a password to anyone who can reach the server */
export function authenticationRoutes(tools: LoginTools, isDevelopment: boolean) {
  return [
    bind(fetchApiKey, async ({ realm, params, client, address: addressOf }) => {
      const address = addressOf();
      const verified = await verifyLogin(realm, params, address, tools);
      if (isRefusal(verified)) return verified;
      const { user, passwordHash } = verified;
      const key = newSecret();
      const added = await realm.dispatcher.ask(
        command(
          { actor: "user", id: user.id },
          "user.api-key.add",
          { hash: hashApiKey(key), login: loginFrom(client, address), passwordHash },
          user.id,
        ),
      );
      return added.kind === "ok" ? ok({ api_key: key, ...added.answer }) : added;
    }),

    bind(fetchApiKeyInDevelopment, async ({ realm, params }) => {
      if (!isDevelopment) return refuse.badRequest("Endpoint not available in production.");
      const user = realm.view.users.byEmail(params.username.trim());
      if (user === undefined) return refuse.authenticationFailed();
      if (!user.isActive) return refuse.userDeactivated();
      const key = newSecret();
      const added = await realm.dispatcher.ask(
        command({ actor: "user", id: user.id }, "user.api-key.add", { hash: hashApiKey(key) }, user.id),
      );
      return added.kind === "ok" ? ok({ api_key: key, ...added.answer }) : added;
    }),

    bind(regenerateApiKey, async (call) => {
      const caller = requireCaller(call);
      const key = newSecret();
      const made = await call.realm.dispatcher.ask(
        command({ actor: "user", id: caller.id }, "user.api-key.regenerate", { hash: hashApiKey(key) }, caller.id),
      );
      return made.kind === "ok" ? ok({ api_key: key }) : made;
    }),
  ];
}
