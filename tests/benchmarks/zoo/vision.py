"""Models of pictures, of transformers: height and width are free."""

from __future__ import annotations

from typing import Any

from .model import Model
from .transformers_calls import BASE, image

_VISION: dict[str, Any] = {key: value for key, value in BASE.items() if key != "vocab_size"} | {
    "image_size": 32,
    "patch_size": 8,
}
_SWIN: dict[str, Any] = {
    "image_size": 64,
    "patch_size": 4,
    "embed_dim": 8,
    "depths": [2, 1],
    "num_heads": [2, 2],
    "window_size": 4,
}

VISION: tuple[Model, ...] = (
    image("vit", "ViTConfig", "ViTModel", size=32, given={"interpolate_pos_encoding": True},
          **_VISION),
    image("convnext", "ConvNextConfig", "ConvNextModel", num_stages=2, hidden_sizes=[8, 16],
           depths=[1, 1]),
    image("resnet", "ResNetConfig", "ResNetModel", embedding_size=8, hidden_sizes=[8, 16],
           depths=[1, 1], layer_type="basic"),
    image("segformer", "SegformerConfig", "SegformerForSemanticSegmentation",
           num_encoder_blocks=2, depths=[1, 1], hidden_sizes=[16, 32], num_attention_heads=[1, 2],
           sr_ratios=[4, 2], patch_sizes=[7, 3], strides=[4, 2], mlp_ratios=[2, 2],
           decoder_hidden_size=16),
    image("mobilevit", "MobileViTConfig", "MobileViTModel", hidden_sizes=[16, 16, 16],
           neck_hidden_sizes=[8, 8, 8, 8, 8, 8, 16], num_attention_heads=2, image_size=64),
    image("dinov2", "Dinov2Config", "Dinov2Model", size=32, **_VISION),
    image("swin", "SwinConfig", "SwinModel", **_SWIN),
    image("swinv2", "Swinv2Config", "Swinv2Model", **_SWIN),
    image("poolformer", "PoolFormerConfig", "PoolFormerModel", hidden_sizes=[8, 16],
          depths=[1, 1], num_encoder_blocks=2, patch_sizes=[7, 3], strides=[4, 2],
          padding=[2, 1]),
    image("regnet", "RegNetConfig", "RegNetModel", embedding_size=8, hidden_sizes=[8, 16],
          depths=[1, 1], groups_width=4),
    image("efficientnet", "EfficientNetConfig", "EfficientNetModel", hidden_dim=128,
          width_coefficient=0.1, depth_coefficient=0.2, in_channels=[8, 8], out_channels=[8, 16],
          kernel_sizes=[3, 3], strides=[1, 2], num_block_repeats=[1, 1], expand_ratios=[1, 2],
          depthwise_padding=[], image_size=64),
    image("mobilenet-v1", "MobileNetV1Config", "MobileNetV1Model", depth_multiplier=0.25,
          min_depth=4, tf_padding=False),
    image("mobilenet-v2", "MobileNetV2Config", "MobileNetV2Model", depth_multiplier=0.25),
    image("mobilenet-v2 padded", "MobileNetV2Config", "MobileNetV2Model", depth_multiplier=0.25,
          tf_padding=True),
    image("mobilevitv2", "MobileViTV2Config", "MobileViTV2Model", width_multiplier=0.25,
          image_size=64),
    image("pvt-v2", "PvtV2Config", "PvtV2Model", num_encoder_blocks=2, depths=[1, 1],
          sr_ratios=[4, 2], hidden_sizes=[8, 16], patch_sizes=[7, 3], strides=[4, 2],
          num_attention_heads=[1, 2], mlp_ratios=[2, 2]),
    image("cvt", "CvtConfig", "CvtModel", embed_dim=[8, 16, 16], num_heads=[1, 2, 2],
          depth=[1, 2, 3], mlp_ratio=[2.0, 2.0, 2.0]),
    image("focalnet", "FocalNetConfig", "FocalNetModel", image_size=64, embed_dim=8,
          hidden_sizes=[8, 16], depths=[1, 1], focal_levels=[2, 2], focal_windows=[3, 3]),
    image("bit", "BitConfig", "BitModel", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1],
          num_groups=4, layer_type="preactivation"),
    image("convnextv2", "ConvNextV2Config", "ConvNextV2Model", num_stages=2,
          hidden_sizes=[8, 16], depths=[1, 1]),
    image("glpn", "GLPNConfig", "GLPNForDepthEstimation", num_encoder_blocks=4,
          depths=[1, 1, 1, 1], hidden_sizes=[8, 8, 16, 16], num_attention_heads=[1, 1, 2, 2],
          sr_ratios=[4, 2, 2, 1], decoder_hidden_size=8),
    image("beit", "BeitConfig", "BeitModel", **_VISION, vocab_size=100,
          use_relative_position_bias=True),
    image("detr-like yolos", "YolosConfig", "YolosForObjectDetection", **_VISION
          | {"image_size": [64, 64]}, num_detection_tokens=5),
    image("swin2sr", "Swin2SRConfig", "Swin2SRForImageSuperResolution", image_size=32,
          patch_size=1, embed_dim=12, depths=[1], num_heads=[2], window_size=4, upscale=2),
    image("hgnet-v2", "HGNetV2Config", "HGNetV2Backbone", embedding_size=8,
          hidden_sizes=[8, 16], depths=[1, 1], stem_channels=[3, 8, 8], stage_in_channels=[8, 8],
          stage_mid_channels=[8, 8], stage_out_channels=[8, 16], stage_num_blocks=[1, 1],
          stage_downsample=[False, True], stage_light_block=[False, False],
          stage_kernel_size=[3, 3], stage_numb_of_layers=[2, 2], stage_downsample_strides=[2, 2]),
    image("superpoint", "SuperPointConfig", "SuperPointForKeypointDetection",
          encoder_hidden_sizes=[8, 8, 8, 16], decoder_hidden_size=16,
          keypoint_decoder_dim=65, descriptor_decoder_dim=16),
    image("dpt", "DPTConfig", "DPTForDepthEstimation", **_VISION | {"num_hidden_layers": 4},
          backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 8, 8],
          fusion_hidden_size=8, reassemble_factors=[4, 2, 1, 0.5]),
)  # fmt: skip
