/** Certificates for tests, made by openssl. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** Why no certificate can be created here; null: it can. */
export function certificateObstacle(): string | null {
  return spawnSync("openssl", ["version"]).status === 0 ? null : "openssl is not installed";
}

/** A self-signed certificate for 127.0.0.1 and the names; it replaces an earlier one. @throws Error without openssl */
export function newCertificate(folder: string, ...names: readonly string[]): { keyFile: string; certFile: string } {
  const subjects = ["IP:127.0.0.1", ...names.map((name) => `DNS:${name}`)].join(",");
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const made = spawnSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", "/CN=127.0.0.1", "-addext", `subjectAltName=${subjects}`, "-keyout", keyFile, "-out", certFile],
  ]);
  if (made.status !== 0) throw new Error(String(made.stderr));
  return { keyFile, certFile };
}
