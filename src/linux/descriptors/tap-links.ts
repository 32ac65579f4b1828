/** The links of the TAPs that VPP deletes. */
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { LinkLocation, LinuxHost } from '../api.ts';

export interface TapLinks {
  beginDelete(link: LinkLocation): Promise<void>;
}

/** The pod, or its namespace, may have ended, and VPP deletes the link itself if it is still there. */
export function tapLinks(host: LinuxHost, log: Logger): TapLinks {
  return {
    async beginDelete({ namespace, name }) {
      try {
        await host.beginDeleteTap(namespace, name);
      } catch (thrown) {
        log.debug({ link: name, namespace, reason: errorText(thrown) }, 'VPP deletes the link');
      }
    },
  };
}
