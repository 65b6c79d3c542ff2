export declare function findBrowser(): string
