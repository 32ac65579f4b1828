import { ConfigError, type ConfigSource } from '../config/load.ts';
import { type HttpConfig, isPort } from './config.ts';

/** `--http-port` and HTTP_PORT override the port, unless they are empty, and keep the address. @throws ConfigError */
export function withPort(http: HttpConfig, { flags, env }: ConfigSource): HttpConfig {
  const port = flags['http-port'] || env['HTTP_PORT'];
  if (!port) return http;
  if (!isPort(port))
    throw new ConfigError(`"${port}" is not a port number`, { where: '--http-port or HTTP_PORT' });
  const address = http.endpoint.slice(0, http.endpoint.lastIndexOf(':'));
  return { ...http, endpoint: `${address}:${port}` };
}
