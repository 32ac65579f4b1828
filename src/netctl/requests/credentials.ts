/**
 * The header `Authorization`: a token, or user and password. An agent with enable-token-auth answers the
 * latter with the challenge `Bearer`; then netctl logs in there and sends the token.
 */
import type { ClusterNode } from '../command.ts';

export interface CredentialOptions {
  readonly token: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Asks the person at the terminal; undefined: there is none. */
  readonly askPassword: (user: string) => Promise<string | undefined>;
}

export class Credentials {
  readonly #options: CredentialOptions;
  #password: Promise<string | undefined> | undefined;
  readonly #tokens = new Map<ClusterNode, string>();

  constructor(options: CredentialOptions) {
    this.#options = options;
  }

  /** The header for the first request to a node; undefined: none. */
  async header(node: ClusterNode): Promise<string | undefined> {
    const { token, user } = this.#options;
    const bearer = token ?? this.#tokens.get(node);
    if (bearer !== undefined) return `Bearer ${bearer}`;
    const password = await this.#ownPassword();
    if (user === undefined || password === undefined) return undefined;
    return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  }

  /**
   * After the status 401.
   * @param login sends the body to the login route of the node; its reply is the token
   * @returns whether the request may be repeated
   */
  async accepts(
    node: ClusterNode,
    challenge: string,
    login: (body: string) => Promise<string>,
  ): Promise<boolean> {
    const { token, user: username } = this.#options;
    const isToken = /^bearer\b/i.test(challenge);
    if (!isToken || token !== undefined || this.#tokens.has(node)) return false;
    const password = await this.#ownPassword();
    if (username === undefined || password === undefined) return false;
    this.#tokens.set(node, (await login(JSON.stringify({ username, password }))).trim());
    return true;
  }

  #ownPassword(): Promise<string | undefined> {
    const { user, password, askPassword } = this.#options;
    this.#password ??=
      password === undefined && user !== undefined ? askPassword(user) : Promise.resolve(password);
    return this.#password;
  }
}
