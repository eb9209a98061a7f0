interface Asset {
  readonly name: string;
  readonly text: string;
}

/** The files of the page, written by `npm run build:ui`. */
declare const assets: { readonly script: Asset; readonly style: Asset };

export = assets;
