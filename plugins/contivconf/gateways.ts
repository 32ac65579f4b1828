/** The default gateways of an option: one address, or one of each family with a comma between them. */
import { familyOf, firstOfFamily, type IpFamily } from '#models/ip.ts';
import { gatewayFault } from './host-address.ts';
import { addressList } from './node-section.ts';

/**
 * @param text empty: none
 * @param refuse is called with each part that is not used, and its fault as the rest of a sentence
 */
export function gatewayList(text: string, refuse: (part: string, fault: string) => void): string[] {
  const found: string[] = [];
  const parts = addressList(text);
  // a text without a part is no address
  for (const one of parts.length === 0 && text !== '' ? [text] : parts) {
    const fault = gatewayFault(one) ?? secondOfFamily(found, familyOf(one)!);
    if (fault === undefined) found.push(one);
    else refuse(one, fault);
  }
  return found;
}

function secondOfFamily(gateways: readonly string[], family: IpFamily): string | undefined {
  const first = firstOfFamily(gateways, family);
  return (
    first && `is a second gateway of IPv${family} beside ${first}: there is one of each family`
  );
}
