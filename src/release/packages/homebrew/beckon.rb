class Beckon < Formula
  desc "{{description}}"
  homepage "{{homepage}}"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{url beckon-darwin-arm64.tar.gz}}"
      sha256 "{{sha256 beckon-darwin-arm64.tar.gz}}"
    end
    on_intel do
      url "{{url beckon-darwin-x64.tar.gz}}"
      sha256 "{{sha256 beckon-darwin-x64.tar.gz}}"
    end
  end

  on_linux do
    on_arm do
      url "{{url beckon-linux-arm64.tar.gz}}"
      sha256 "{{sha256 beckon-linux-arm64.tar.gz}}"
    end
    on_intel do
      url "{{url beckon-linux-x64.tar.gz}}"
      sha256 "{{sha256 beckon-linux-x64.tar.gz}}"
    end
  end

  def install
    bin.install "beckon"
    bash_completion.install "completions/beckon.bash" => "beckon"
    zsh_completion.install "completions/_beckon"
    fish_completion.install "completions/beckon.fish"
    man1.install "man/beckon.1"
    doc.install "THIRD_PARTY_NOTICES"
  end

  def caveats
    "To connect your agents and start beckon: beckon --install"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/beckon --version")
  end
end
