import { UuidPipe } from '@app/platform';
import { ServerNotFound } from './registry.errors.js';

export const ServerIdPipe = new UuidPipe((id) => new ServerNotFound(id));
