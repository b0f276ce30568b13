{
  description = "{{description}}";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { nixpkgs, ... }:
    let
      sources = {
        x86_64-linux = {
          name = "beckon-linux-x64";
          sha256 = "{{sha256 beckon-linux-x64.tar.xz}}";
        };
        aarch64-linux = {
          name = "beckon-linux-arm64";
          sha256 = "{{sha256 beckon-linux-arm64.tar.xz}}";
        };
        x86_64-darwin = {
          name = "beckon-darwin-x64";
          sha256 = "{{sha256 beckon-darwin-x64.tar.xz}}";
        };
        aarch64-darwin = {
          name = "beckon-darwin-arm64";
          sha256 = "{{sha256 beckon-darwin-arm64.tar.xz}}";
        };
      };
      build =
        system: { name, sha256 }:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        {
          default = pkgs.stdenvNoCC.mkDerivation {
            pname = "beckon";
            version = "{{version}}";
            src = pkgs.fetchurl {
              url = "{{releaseUrl}}/${name}.tar.xz";
              inherit sha256;
            };
            nativeBuildInputs = [
              pkgs.installShellFiles
            ]
            ++ pkgs.lib.optional pkgs.stdenv.hostPlatform.isLinux pkgs.autoPatchelfHook;
            # Either would remove the code that is appended to Bun's runtime, or make its signature invalid.
            dontStrip = true;
            installPhase = ''
              install -Dm755 beckon $out/bin/beckon
              install -Dm644 THIRD_PARTY_NOTICES $out/share/doc/beckon/THIRD_PARTY_NOTICES
              installManPage man/beckon.1
              installShellCompletion --bash --name beckon completions/beckon.bash
              installShellCompletion --zsh completions/_beckon --fish completions/beckon.fish
            '';
            meta = {
              description = "{{description}}";
              homepage = "{{homepage}}";
              license = pkgs.lib.licenses.mit;
              mainProgram = "beckon";
            };
          };
        };
    in
    {
      packages = builtins.mapAttrs build sources;
    };
}
