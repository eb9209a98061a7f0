/** A file of the page, named by the hash of its content. */
export interface PageAsset {
  /** `3f2a….js` or `….css`. */
  readonly name: string;
  readonly text: string;
}

export interface PageAssets {
  readonly script: PageAsset;
  readonly style: PageAsset;
}

/** The segment below a prefix that holds the assets. No model's path begins with it, because `~` is in no name of an app. */
export const ASSETS_SEGMENT = '~ui';

/** Loads the assets, which `npm run build` bundles into one module for both formats of the package. */
export async function loadPageAssets(): Promise<PageAssets> {
  const { default: assets } = await import('../../../ui/assets.cjs');
  return assets;
}
