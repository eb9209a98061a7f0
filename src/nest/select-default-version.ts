import { VERSION_NEUTRAL, VersioningType } from '@nestjs/common';
import type { VersioningOptions } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { VersionSelection } from '../http/browsable/page-config.js';
import { applicationConfigOf } from './global-enhancers.js';

const NO_VERSION: VersionSelection = { headers: {} };

/** Selects the application's default version, where requests carry the version in a header: a navigation has none. */
export function selectDefaultVersion(moduleRef: ModuleRef): () => VersionSelection {
  let selected: VersionSelection | undefined;
  return () => {
    const versioning = applicationConfigOf(moduleRef)?.getVersioning();
    return (selected ??= versioning ? selectVersion(versioning) : NO_VERSION);
  };
}

function selectVersion(versioning: VersioningOptions): VersionSelection {
  const given = versioning.defaultVersion;
  const version = Array.isArray(given) ? given.find((each) => each !== VERSION_NEUTRAL) : given;
  if (typeof version !== 'string') return NO_VERSION;
  switch (versioning.type) {
    case VersioningType.HEADER:
      return { headers: { [versioning.header]: version } };
    case VersioningType.MEDIA_TYPE:
      return { headers: {}, acceptParameter: `${versioning.key}${version}` };
    // The version is in the path, or the application has to name its own headers.
    case VersioningType.URI:
    case VersioningType.CUSTOM:
      return NO_VERSION;
    default:
      return versioning satisfies never;
  }
}
