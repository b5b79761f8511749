/** What NATS servers and nodes need to prove to each other who they are: certificates, a password, or a credentials file. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { newCertificate } from "../support/certificate.ts";
import type { Environment } from "../support/process.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";

/** Servers that accept only clients with a certificate, and the settings of a node that has one. */
export function mutualTls(t: Teardown): { readonly lines: readonly string[]; readonly environment: Environment } {
  const folder = temporaryFolder(t);
  const [server, client] = ["server", "client"].map((name) => {
    mkdirSync(join(folder, name));
    return newCertificate(join(folder, name));
  });
  if (server === undefined || client === undefined) throw new Error("no certificates");
  const quoted = (path: string) => JSON.stringify(path);
  const files = `cert_file: ${quoted(server.certFile)}, key_file: ${quoted(server.keyFile)}`;
  return {
    // Each certificate is its own authority.
    lines: [`tls { ${files}, ca_file: ${quoted(client.certFile)}, verify: true }`],
    environment: {
      CLUSTER_NATS_CA_FILE: server.certFile,
      CLUSTER_NATS_CERT_FILE: client.certFile,
      CLUSTER_NATS_KEY_FILE: client.keyFile,
    },
  };
}

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** Servers that trust an operator, and a credentials file of a user of one of the operator's accounts. */
export function operatorMode(t: Teardown): { readonly lines: readonly string[]; readonly credentialsFile: string } {
  const [operator, system, account] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const user = nkeys.createUser();
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const accountToken = (pair: KeyPair, more: object) =>
    tokenOf(operator, pair, { type: "account", limits: { ...limits, ...more } });
  const preloaded = [
    `${system.getPublicKey()}: ${accountToken(system, {})}`,
    `${account.getPublicKey()}: ${accountToken(account, storage)}`,
  ];
  const credentialsFile = join(temporaryFolder(t), "node.creds");
  const seed = Buffer.from(user.getSeed()).toString();
  writeFileSync(
    credentialsFile,
    [
      "-----BEGIN NATS USER JWT-----",
      tokenOf(account, user, { type: "user", ...unlimited }),
      "------END NATS USER JWT------",
      "",
      "-----BEGIN USER NKEY SEED-----",
      seed,
      "------END USER NKEY SEED------",
      "",
    ].join("\n"),
  );
  return {
    credentialsFile,
    lines: [
      `operator: ${tokenOf(operator, operator, { type: "operator" })}`,
      `system_account: ${system.getPublicKey()}`,
      "resolver: MEMORY",
      `resolver_preload: { ${preloaded.join(", ")} }`,
    ],
  };
}

/** A JWT as NATS reads it: what the issuer says of the subject. */
function tokenOf(issuer: KeyPair, subject: KeyPair, claims: object): string {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const [iss, sub] = [issuer.getPublicKey(), subject.getPublicKey()];
  const iat = Math.floor(Date.now() / 1000);
  const head = encoded({ typ: "JWT", alg: "ed25519-nkey" });
  const body = encoded({ jti: sub, iat, iss, name: sub, sub, nats: { ...claims, version: 2 } });
  const signature = Buffer.from(issuer.sign(Buffer.from(`${head}.${body}`))).toString("base64url");
  return `${head}.${body}.${signature}`;
}
