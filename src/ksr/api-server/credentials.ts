import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { errorText } from '#infra/errors/errors.ts';
import { ApiCredentialsError, KubeConfigError } from './api-errors.ts';
import { CredentialPlugin, type PluginCredential } from './credential-plugin.ts';

/** The kubeconfig of the administrator, as kubeadm writes it. */
const ADMIN_FILE = '/etc/kubernetes/admin.conf';

export interface ApiAddress {
  /** Without a slash at the end. */
  readonly server: string;
  /** Credentials and certificates. `agent` is set only when a proxy is configured. */
  readonly options: RequestOptions;
}

/** A kubeconfig whose credential plugin is not run by the library. */
interface LoadedConfig {
  readonly config: KubeConfig;
  readonly plugin: CredentialPlugin | undefined;
}

/**
 * Address and credentials of the API server, from a kubeconfig file or from the service account of the
 * pod. Tokens and certificates are replaced while the process runs: `reload` after a request that failed.
 */
export class Credentials {
  readonly #file: string | undefined;
  readonly #root: string;
  #loaded: LoadedConfig | undefined;
  /** One run of a credential plugin is for all requests that wait for it. */
  #pending: Promise<ApiAddress> | undefined;

  /**
   * @param file a kubeconfig file; by default that of kubeadm, or the service account without one
   * @param root of the file system, for the default and the service account
   */
  constructor(file: string | undefined, root = '') {
    const adminFile = root + ADMIN_FILE;
    this.#file = file ?? (existsSync(adminFile) ? adminFile : undefined);
    this.#root = root;
  }

  /** @throws KubeConfigError; ApiCredentialsError when the signal is aborted while a credential plugin runs */
  async address(signal: AbortSignal): Promise<ApiAddress> {
    signal.throwIfAborted();
    this.#pending ??= this.#read();
    const pending = this.#pending;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([pending, aborted]);
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
      // the next request reads the file again and starts another plugin, once for all that wait
      if (this.#pending === pending) this.reload();
      throw new ApiCredentialsError('the credential plugin has not answered', {
        where: this.#where,
        cause: thrown,
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
      if (this.#pending === pending) this.#pending = undefined;
    }
  }

  get #where(): string {
    return this.#file ?? 'service account';
  }

  async #read(): Promise<ApiAddress> {
    try {
      this.#loaded ??= this.#load();
      const { config, plugin } = this.#loaded;
      const cluster = config.getCurrentCluster();
      if (!cluster?.server) throw new Error('the current context names no cluster with a server');
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      if (plugin) apply(options, await plugin.credential());
      // The library's agent opens a connection for each request, and keeps replaced certificates.
      if (!cluster.proxyUrl) delete options.agent;
      return { server: cluster.server.replace(/\/+$/, ''), options: trimmed(options) };
    } catch (thrown) {
      this.#loaded = undefined;
      throw new KubeConfigError(errorText(thrown), { where: this.#where, cause: thrown });
    }
  }

  /** The next `address` reads the files again. */
  reload(): void {
    this.#loaded = undefined;
    this.#pending = undefined;
  }

  #load(): LoadedConfig {
    const config = new KubeConfig();
    if (this.#file !== undefined) config.loadFromFile(this.#file);
    else if (process.env['KUBERNETES_SERVICE_HOST']) config.loadFromCluster(this.#root);
    else throw new Error('no kubeconfig file, and KUBERNETES_SERVICE_HOST is not set');
    const user = config.getCurrentUser();
    if (!user?.exec) return { config, plugin: undefined };
    const plugin = new CredentialPlugin(user.exec);
    config.users = config.users.map((one) => (one === user ? { ...user, exec: undefined } : one));
    return { config, plugin };
  }
}

function apply(options: RequestOptions, { token, certificate, key }: PluginCredential): void {
  if (certificate !== undefined) options.cert = certificate;
  if (key !== undefined) options.key = key;
  if (token !== undefined)
    options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
}

/** A token file that ends in a line feed is no valid header. */
function trimmed(options: RequestOptions): RequestOptions {
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [
    name,
    String(value).trim(),
  ]);
  return { ...options, headers: Object.fromEntries(headers) };
}
