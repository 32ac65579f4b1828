/** The encryption between two nodes over IPv6. */
import { encryptionSuite } from '../support/encryption-suite.ts';

encryptionSuite(6);
